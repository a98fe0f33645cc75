package apitest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/server/api"
)

// generator makes requests for the operations of the OpenAPI document, valid and broken ones.
type generator struct {
	rand       *rand.Rand
	schemas    map[string]map[string]any
	operations []described
}

// described is an operation with its parameters and the schema of its body.
type described struct {
	operation
	parameters []parameter
	body       map[string]any // JSON Schema; nil = none
}

type parameter struct {
	Name   string         `json:"name"`
	In     string         `json:"in"`
	Schema map[string]any `json:"schema"`
}

// generated is a request.
type generated struct {
	method, target, body string
	headers              [][2]string
}

func (r generated) String() string {
	return fmt.Sprintf("%s %s %q\n%.300s", r.method, r.target, r.headers, r.body)
}

func newGenerator(seed uint64) (*generator, error) {
	var document struct {
		Paths map[string]map[string]struct {
			Parameters  []parameter `json:"parameters"`
			RequestBody struct {
				Content map[string]struct {
					Schema map[string]any `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(api.OpenAPI("test"), &document); err != nil {
		return nil, err
	}
	g := &generator{rand: rand.New(rand.NewPCG(seed, 0)), schemas: document.Components.Schemas}
	for path, methods := range document.Paths {
		for method, o := range methods {
			d := described{operation{strings.ToUpper(method), path}, o.Parameters, o.RequestBody.Content["application/json"].Schema}
			g.operations = append(g.operations, d)
			if d.body != nil { // which have the most to get wrong
				g.operations = append(g.operations, d, d)
			}
		}
	}
	slices.SortFunc(g.operations, func(a, b described) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return g, nil
}

// known are values that parameters and members with a name may have, so that requests reach
// what exists.
var known = map[string][]string{
	"agent": {"desk", "hello", "keyed", "caller", "secret"}, "run": fixtures, "other": fixtures, "id": {"chat", "theirs", "hidden"},
	"call": {"plan.1/model", "step.s1/turn.1/tool.0", "step.s1/turn.1/tool.0.approval", "step.s1/turn.1/model"},
	"path": {"step.s1/turn.1/tool.0.approval"}, "at": {"plan.1", "step.s1", "plan.1/model"},
	"do": {"approve", "deny", "edit", "text"}, "set": {"limits.max_steps=3", "limits.max_tokens=5000", "limits.max_cost=1", "llms.main.model=x"},
	"run_id": {"", "new-1", "new-2", "new-3"}, "memory_id": {"", "chat", "theirs", "hidden"}, "Prefer": {"wait=0", "respond-async"},
	"Accept": {"*/*", "application/json", "text/event-stream"}, "role": {"user", "assistant"}, "after": {"0.1", "0.3"},
	"Last-Event-ID": {"0.1", "0.2", "1.7"}, "since": {"2026-01-02T15:04:05Z"}, "until": {"2036-01-02T15:04:05Z"}, "on_drift": {"stop", "live"},
	"Idempotency-Key": {"key-1", "key-2"},
}

// hostile are texts that break naive programs.
var hostile = []string{
	"", "\x00", "\xff\xfe", "\ud7ff\ufffe", "\r\nX-Forged: 1\r\n\r\n", "\x1b[31m", "<script>alert(1)</script>", "../../../../etc/passwd", "..%2f..%2f", "/etc/passwd",
	"${env.CANARY_ENV}", "${file:notes.txt}", "{{.}}", "%s%n%x", "' OR 1=1 --", "$(id)", "last", "null", "-1", "1e999", "9223372036854775808", "NaN",
	"limits.max_cost=${env.CANARY_TOKEN}", "llms.main.base_url=http://127.0.0.1:1", "wait=99999999999999", "\u202eabc", strings.Repeat("x", 300), strings.Repeat("é", 1000),
}

func pick[T any](g *generator, all []T) T { return all[g.rand.IntN(len(all))] }

func (g *generator) chance(percent int) bool { return g.rand.IntN(100) < percent }

// request returns a request. About half of them are valid.
func (g *generator) request() generated {
	o := pick(g, g.operations)
	broken := 0
	if g.chance(50) {
		broken = 20
	}
	r := generated{method: o.method, target: o.path}
	query := url.Values{}
	for _, p := range o.parameters {
		value := g.text(p.Name, p.Schema, broken)
		switch p.In {
		case "path":
			r.target = strings.ReplaceAll(r.target, "{"+p.Name+"}", g.segment(p.Name, value))
		case "query":
			switch {
			case p.Name == "follow" && value != "false": // the feed would not end
				query.Add(p.Name, "0")
			case p.Name == "follow" || g.chance(40):
				query.Add(p.Name, value)
			}
		case "header":
			if g.chance(40) && !strings.ContainsAny(value, "\x00\r\n\x1b") {
				r.headers = append(r.headers, [2]string{p.Name, value})
			}
		}
	}
	if g.chance(broken) {
		query.Add(pick(g, hostile), pick(g, hostile))
	}
	if len(query) > 0 {
		r.target += "?" + query.Encode()
	}
	if o.body != nil || g.chance(broken) {
		r.body = g.encode(g.value("", o.body, broken, 0), broken)
	}
	if g.chance(broken) {
		r.method = pick(g, []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})
	}
	if g.chance(broken) {
		r.headers = append(r.headers, [2]string{"Content-Type", pick(g, []string{"text/plain", "application/json; charset=utf-16", "multipart/form-data", "x/y; z"})})
	}
	return r
}

// segment escapes a value for a path. The path of a call has slashes.
func (g *generator) segment(name, value string) string {
	if name == "call" {
		return strings.ReplaceAll(url.PathEscape(value), "%2F", "/")
	}
	return url.PathEscape(value)
}

// text returns a value for a parameter.
func (g *generator) text(name string, schema map[string]any, broken int) string {
	if g.chance(broken) {
		return pick(g, hostile)
	}
	if all := known[name]; all != nil {
		return pick(g, all)
	}
	v := g.value(name, schema, broken, 0)
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// encode returns the JSON of a value, sometimes broken.
func (g *generator) encode(v any, broken int) string {
	b, err := json.Marshal(v)
	if err != nil || len(b) == 0 || !g.chance(broken) {
		return string(b)
	}
	at := g.rand.IntN(len(b))
	switch g.rand.IntN(6) {
	case 0:
		return string(b[:at])
	case 1:
		b[at] ^= byte(1 << g.rand.IntN(8))
	case 2:
		return string(b) + string(b)
	case 3:
		return strings.Repeat("[", 20_000) + string(b)
	case 4:
		return strings.Replace(string(b), "{", `{"question":"a","question":"b",`, 1)
	default:
		return string(b[:at]) + pick(g, hostile) + string(b[at:])
	}
	return string(b)
}

// value returns a value that a schema accepts, or, in so many percent of the cases, any.
func (g *generator) value(name string, schema map[string]any, broken, depth int) any {
	if ref, ok := schema["$ref"].(string); ok {
		schema = g.schemas[ref[strings.LastIndexByte(ref, '/')+1:]]
	}
	if depth > 5 || g.chance(broken) {
		return g.anything(depth)
	}
	if enum, ok := schema["enum"].([]any); ok {
		return pick(g, enum)
	}
	if all := known[name]; all != nil && schema["type"] == "string" {
		return pick(g, all)
	}
	switch kind := g.kind(schema); kind {
	case "object":
		return g.object(schema, broken, depth)
	case "array":
		items, _ := schema["items"].(map[string]any)
		out := make([]any, g.rand.IntN(3))
		for i := range out {
			out[i] = g.value(name, items, broken, depth+1)
		}
		return out
	case "string":
		return strings.Repeat("a b", g.rand.IntN(4))
	case "integer":
		return 1 + g.rand.IntN(50)
	case "number":
		return g.rand.Float64() * 100
	case "boolean":
		return g.chance(50)
	default:
		return g.anything(depth)
	}
}

// kind returns a type of a schema that is not null.
func (g *generator) kind(schema map[string]any) string {
	switch kind := schema["type"].(type) {
	case string:
		return kind
	case []any:
		if len(kind) > 0 {
			s, _ := kind[0].(string)
			return s
		}
	}
	return ""
}

func (g *generator) object(schema map[string]any, broken, depth int) any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for name, p := range properties {
		if of, ok := p.(map[string]any); ok && (g.chance(40) || slices.Contains(required, any(name))) {
			out[name] = g.value(name, of, broken, depth+1)
		}
	}
	if g.chance(broken) {
		out[pick(g, hostile)] = g.anything(depth)
	}
	delete(out, "$schema")
	return out
}

// anything returns any JSON value.
func (g *generator) anything(depth int) any {
	switch n := g.rand.IntN(8); {
	case n == 0 && depth < 6:
		return map[string]any{pick(g, hostile): g.anything(depth + 1), "question": g.anything(depth + 1)}
	case n == 1 && depth < 6:
		return []any{g.anything(depth + 1), g.anything(depth + 1)}
	case n == 2:
		return nil
	case n == 3:
		return g.chance(50)
	case n == 4:
		return pick(g, []any{0, -1, 1 << 40, 0.5, -1e300, json.Number("1e400"), json.Number("123456789012345678901234567890")})
	default:
		return pick(g, hostile)
	}
}
