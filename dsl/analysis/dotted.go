package analysis

import (
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

// Dotted finds parameters whose dotted name is also a path into another
// parameter: templates then mean the one, expressions the other.
var Dotted = dsl.Analyzer{Name: "dotted", Codes: []diag.Code{diag.Shadowed}, Run: func(p *dsl.Pass) {
	parameters := p.Spec.Tree().Get("parameters")
	for _, e := range parameters.Entries() {
		owner, path, ok := pathInto(parameters, e.Key)
		if !ok || !p.InSpecFile(e.Place) {
			continue
		}
		p.Warn(diag.Shadowed, e.Place, "the parameter %q shadows %s of the parameter %q in templates; in expressions, parameters.%s is the latter", e.Key, path, owner, e.Key).
			Hint = "rename one of them; an expression reaches this parameter only as parameters[\"" + e.Key + "\"]"
	}
}}

// pathInto is the parameter that a dotted name leads into, and where to in it;
// ok is false where no parameter has such a part, as far as it is declared.
func pathInto(parameters dsl.Value, name string) (owner, path string, ok bool) {
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		owner, path = name[:i], name[i+1:]
		if keys := strings.Split(path, "."); declares(parameters.Get(owner), keys) || parameters.Get(owner, "default").Get(keys...).Exists() {
			return owner, path, true
		}
	}
	return "", "", false
}

// declares says whether a schema names a property, by its path.
func declares(schema dsl.Value, path []string) bool {
	for _, key := range path {
		if schema = schema.Get("properties", key); !schema.Exists() {
			return false
		}
	}
	return true
}
