package analysis

import (
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

// Dotted finds parameters whose dotted name is also a path into another
// parameter. Templates resolve such a name to the first, expressions to the
// second.
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

// pathInto returns the parameter that contains the path of a dotted name, and the
// path within it. ok is false if no parameter declares such a property.
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

// declares reports whether a schema has a property at a path.
func declares(schema dsl.Value, path []string) bool {
	for _, key := range path {
		if schema = schema.Get("properties", key); !schema.Exists() {
			return false
		}
	}
	return true
}
