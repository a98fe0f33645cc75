package language

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
)

// roleWith returns the role whose section has a key, or "".
func roleWith(key string, catalog *engine.Catalog) string {
	for _, role := range Roles {
		f, ok := catalog.Nodes.Find(role)
		if !ok {
			continue
		}
		fields, _ := config.Fields([]reflect.Value{config.Struct(f.Config())})
		if slices.Contains(config.FieldKeys(fields), key) {
			return role
		}
	}
	return ""
}

// ofComponent reports whether a path is in an entry that a component decodes.
func ofComponent(path string) bool {
	return strings.HasPrefix(path, "tools.") || strings.HasSuffix(path, ".options") || strings.Contains(path, ".options.")
}

// KeyAdvice returns a suggestion for a key that is not among all keys of a path:
// a similar key, or the section to which it belongs.
func KeyAdvice(e *syntax.Entry, path string, all []string, catalog *engine.Catalog, sections []Section) diag.Advice {
	key := e.Key
	if path == "" && (key == "llm" || key == "model") && e.Value.Kind == syntax.Text {
		if llm := ModelEntry(e.Value.Text, catalog.Models.Types()); llm != "" {
			return diag.DidYouMean(key, "llms", "write llms: {main: "+llm+"}")
		}
	}
	if advice := foreignKey(key, path, all); advice.Hint != "" {
		return advice
	}
	if strings.HasSuffix(path, ".options") && slices.Contains(llmKeys, key) && !slices.Contains(all, key) {
		return diag.Advice{Hint: key + " belongs next to options, not inside"}
	}
	if ofComponent(path) || path == "" && diag.Nearest(key, all) != "" {
		return diag.Suggest(key, all)
	}
	if role := roleWith(key, catalog); role != "" && role != path && (path == "" || slices.Contains(Roles, path)) {
		return diag.Advice{Hint: key + " belongs under " + role}
	}
	for _, home := range sections {
		switch {
		case !slices.Contains(home.keys, key) || home.path == path:
		case home.path == "":
			return diag.Advice{Hint: key + " belongs at the top of the file"}
		default:
			return diag.Advice{Hint: key + " belongs under " + home.path}
		}
	}
	return diag.Suggest(key, all)
}
