package schema

import (
	"errors"
	"slices"
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

// libraryProblems converts the library's error to Problems.
func libraryProblems(err error) Problems {
	if ve, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		var out Problems
		for _, v := range violationsOf(ve) {
			out = append(out, Problem{Path: v.Path, Message: v.Message, Hint: hintFor(v)})
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

func hintFor(v Violation) string {
	switch {
	case strings.HasSuffix(v.Path, "/type"):
		return "use string, integer, number, boolean, array, object or null"
	case strings.HasSuffix(v.Path, "/required"):
		return "write required as a list of names next to properties"
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
