package schema

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Problem is one mistake in a schema.
type Problem struct {
	Path    string // JSON pointer into the schema; "" for the whole schema
	Message string
	Hint    string // how to fix it; "" if unknown
}

// Problems is the error of Compile: all mistakes in a schema, by path.
type Problems []Problem

// Error lists the problems, one per line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = place(p.Path) + ": " + p.Message
		if p.Hint != "" {
			lines[i] += " (" + p.Hint + ")"
		}
	}
	return strings.Join(lines, "\n")
}

func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(ps)
}

// libraryProblems converts the library's error about the schema doc to Problems.
func libraryProblems(err error, doc any) Problems {
	if ve, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		var out Problems
		for _, v := range violationsOf(ve) {
			out = append(out, Problem{Path: v.Path, Message: problemMessage(v, doc), Hint: hintFor(v, doc)})
		}
		return out.sorted()
	}
	if _, ok := errors.AsType[jsonschema.InfiniteLoopError](err); ok {
		return Problems{{Message: "a $ref refers to itself", Hint: "a recursive schema must go through properties or items"}}
	}
	if se, ok := errors.AsType[*jsonschema.SchemaError](err); ok && se.Err != nil {
		err = se.Err
	}
	return Problems{{Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
}

// problemMessage describes a violation of the meta-schema: it names the keyword, and
// a type that does not exist.
func problemMessage(v Violation, doc any) string {
	keyword := path.Base(v.Path)
	if named := parentKeyword(v.Path); named == "$defs" || named == "definitions" {
		return v.Message // keyword is the name of a definition
	} else if named == "properties" {
		keyword = "property " + keyword
	}
	if keyword == "type" {
		if name, ok := valueAt(doc, v.Path).(string); ok {
			return fmt.Sprintf("unknown type %q", name)
		}
	}
	if want, got, ok := strings.Cut(strings.TrimPrefix(v.Message, "must be "), ", not "); ok && strings.HasPrefix(v.Message, "must be ") && keyword != "" {
		first, rest, _ := strings.Cut(want, " ") // "object or boolean"
		return strings.TrimSpace(keyword+" must be "+article(first)+" "+rest) + ", not " + article(got)
	}
	return v.Message
}

// valueAt returns the value at a JSON pointer, or nil.
func valueAt(v any, pointer string) any {
	for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[unescape(key)]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// parentKeyword returns the last but one key of a JSON pointer.
func parentKeyword(pointer string) string { return path.Base(path.Dir(pointer)) }

var typeNames = []string{"string", "integer", "number", "boolean", "array", "object", "null"}

// hintFor suggests a fix for a violation of the meta-schema by doc; "" if unknown.
func hintFor(v Violation, doc any) string {
	property := path.Dir(v.Path)
	switch {
	case parentKeyword(v.Path) == "properties":
		if name, ok := valueAt(doc, v.Path).(string); ok && slices.Contains(typeNames, name) {
			return fmt.Sprintf("write %s: {type: %s}", unescape(path.Base(v.Path)), name)
		}
		return ""
	case strings.HasSuffix(v.Path, "/type"):
		return "use " + strings.Join(typeNames[:len(typeNames)-1], ", ") + " or null"
	case strings.HasSuffix(v.Path, "/required"):
		if parentKeyword(property) == "properties" && slices.Contains([]any{true, "yes", "true"}, valueAt(doc, v.Path)) {
			return fmt.Sprintf("to require %[1]q, remove this key and add required: [%[1]s] next to the properties key that contains %[1]q", unescape(path.Base(property)))
		}
		return "write a list of property names, such as required: [a, b]"
	case strings.HasSuffix(v.Path, "/items"):
		return "use prefixItems for a list of schemas by position"
	}
	return ""
}

// place formats a path; the whole schema is "/".
func place(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
