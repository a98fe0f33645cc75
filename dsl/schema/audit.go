package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/pexctl/pex/engine/text"
)

// Limits of a schema.
const (
	MaxSize   = 256 << 10 // bytes
	MaxDepth  = 32        // nested schemas
	MaxFanOut = 10_000    // subschemas, with each $ref replaced by its target
)

// freeFanOut is the fan-out up to which the size of the value limits the work.
const freeFanOut = 500

// audit checks a schema before the library compiles it.
type audit struct {
	doc       any
	draft     *jsonschema.Draft
	problems  Problems
	anchors   map[string]any
	refs      []ref
	unique    bool
	recursive bool
	costs     map[string]int // by $ref target; -1 while being counted
	total     int
}

// ref is a $ref and its place.
type ref struct{ path, target string }

func newAudit(doc any, draft *jsonschema.Draft) *audit {
	return &audit{doc: doc, draft: draft, anchors: map[string]any{}, costs: map[string]int{}}
}

func (a *audit) run() {
	switch a.doc.(type) {
	case map[string]any, bool:
	default:
		a.report("", "a schema must be an object, true or false", "")
		return
	}
	a.schema("", a.doc, 0)
	for _, r := range a.refs {
		if _, ok := a.resolve(r.target); !ok {
			a.report(r.path+"/$ref", "$ref "+r.target+" refers to nothing in this schema", a.definitions())
		}
	}
	if len(a.problems) > 0 {
		return
	}
	if a.total = a.cost(a.doc); a.total > MaxFanOut {
		a.report("", fmt.Sprintf("the schema has more than %d subschemas after every $ref is expanded", MaxFanOut), "use fewer references to the same subschema")
	}
}

func (a *audit) report(path, message, hint string) {
	a.problems = append(a.problems, Problem{path, message, hint})
}

// Keywords that contain other schemas.
var (
	single = []string{"items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties", "contentSchema", "additionalItems"}
	listed = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	named  = []string{"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"}
)

// each calls f for every schema directly inside m, in a fixed order.
func each(m map[string]any, keys [3][]string, f func(path string, s any)) {
	for _, k := range keys[0] {
		if s, ok := m[k]; ok {
			f("/"+k, s)
		}
	}
	for _, k := range keys[1] {
		list, _ := m[k].([]any)
		for i, s := range list {
			f("/"+k+"/"+strconv.Itoa(i), s)
		}
	}
	for _, k := range keys[2] {
		object, _ := m[k].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			f("/"+k+"/"+escape(name), object[name])
		}
	}
}

// schema checks one schema and those inside it.
func (a *audit) schema(path string, s any, depth int) {
	m, ok := s.(map[string]any)
	if !ok {
		return // true, false, or what the library rejects
	}
	if depth > MaxDepth {
		a.report(path, fmt.Sprintf("schemas are nested more than %d levels deep", MaxDepth), "move parts to $defs and use $ref")
		return
	}
	a.keywords(path, m)
	each(m, [3][]string{single, listed, named}, func(p string, s any) { a.schema(path+p, s, depth+1) })
}

func (a *audit) keywords(path string, m map[string]any) {
	if name, ok := m["$schema"].(string); ok {
		a.reportMisplaced(path, name)
	}
	id := "$id"
	if a.draft == jsonschema.Draft4 {
		id = "id"
	}
	if _, ok := m[id]; ok && path != "" {
		a.report(path+"/"+id, id+" inside a schema is not supported", "move the part to $defs and use $ref: '#/$defs/name'")
	}
	for _, k := range []string{"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"} {
		if _, ok := m[k]; ok {
			a.report(path+"/"+k, k+" is not supported", "use $ref")
		}
	}
	if name, ok := m["$anchor"].(string); ok {
		a.anchors[name] = m
	}
	if target, ok := m["$ref"].(string); ok {
		if !strings.HasPrefix(target, "#") {
			a.report(path+"/$ref", "$ref "+target+" is outside the schema", "copy the schema to $defs and write #/$defs/name")
		} else {
			a.refs = append(a.refs, ref{path, target})
		}
	}
	if u, ok := m["uniqueItems"].(bool); ok && u {
		a.unique = true
	}
	if p, ok := m["pattern"].(string); ok {
		a.pattern(path+"/pattern", p)
	}
	patterns, _ := m["patternProperties"].(map[string]any)
	for _, p := range slices.Sorted(maps.Keys(patterns)) {
		a.pattern(path+"/patternProperties/"+escape(p), p)
	}
}

var lookaround = text.Regexp(`\(\?<?[=!]|\\[1-9]`)

func (a *audit) pattern(path, p string) {
	_, err := regexp.Compile(p)
	switch {
	case err == nil:
	case lookaround().MatchString(p):
		a.report(path, "pattern "+p+" uses lookahead, lookbehind or a backreference", "patterns use RE2 syntax; use two patterns under allOf, or not: {pattern: ...}")
	default:
		a.report(path, "pattern "+p+": "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "patterns use RE2 syntax")
	}
}

// resolve returns the target of a local $ref.
func (a *audit) resolve(target string) (any, bool) {
	fragment := target[1:]
	if fragment == "" {
		return a.doc, true
	}
	if !strings.HasPrefix(fragment, "/") {
		s, ok := a.anchors[fragment]
		return s, ok
	}
	v := a.doc
	for part := range strings.SplitSeq(fragment[1:], "/") {
		part = unescape(part)
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[part]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	switch v.(type) {
	case map[string]any, bool:
		return v, true
	}
	return nil, false
}

func (a *audit) definitions() string {
	m, _ := a.doc.(map[string]any)
	defs, _ := m["$defs"].(map[string]any)
	if len(defs) == 0 || len(defs) > 12 {
		return "write #/$defs/name and move the part to $defs"
	}
	return "$defs contains: " + strings.Join(slices.Sorted(maps.Keys(defs)), ", ")
}

// applied are the keywords whose schemas are applied, not only defined.
var applied = [3][]string{single, listed, named[:4]}

// cost counts the subschemas that s expands to, up to just above MaxFanOut.
func (a *audit) cost(s any) int {
	m, ok := s.(map[string]any)
	if !ok {
		return 1
	}
	n := 1
	if target, ok := m["$ref"].(string); ok {
		n += a.refCost(target)
	}
	each(m, applied, func(_ string, s any) {
		if n <= MaxFanOut {
			n += a.cost(s)
		}
	})
	return min(n, MaxFanOut+1)
}

func (a *audit) refCost(target string) int {
	if n, ok := a.costs[target]; ok {
		if n < 0 {
			a.recursive = true
			return 1
		}
		return n
	}
	a.costs[target] = -1
	s, _ := a.resolve(target)
	n := a.cost(s)
	a.costs[target] = n
	return n
}

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~", "%25", "%", "%22", `"`, "%20", " ")
)

func escape(s string) string   { return escaper.Replace(s) }
func unescape(s string) string { return unescaper.Replace(s) }
