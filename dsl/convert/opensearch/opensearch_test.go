package opensearch_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/opensearch"
	"github.com/pexctl/pex/engine/goldentest"
)

const openSearchSources = "../../../testdata/import/opensearch"

// openSearchCases are conversions of the sources in testdata/import/opensearch.
var openSearchCases = []struct {
	name       string
	agent      string
	connectors []string
}{
	{"the RFC's agent and model", "agent.json", []string{"model.json"}},
	{"without a connector", "agent.json", nil},
	{"Claude on Bedrock", "agent.json", []string{"bedrock.json"}},
	{"every key", "everything.json", []string{"openai.json", "bedrock.json", "mcp.json"}},
	{"every key, no connector", "everything.json", nil},
	{"a conversational agent", "conversational.json", []string{"openai.json", "mcp.json"}},
	{"the form of 3.5, as a search gives it", "unified.json", nil},
	{"a model that only HTTP reaches", "text-only.json", []string{"custom.json"}},
}

func source(t *testing.T, name string) convert.Input {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(openSearchSources, name))
	if err != nil {
		t.Fatal(err)
	}
	return convert.Input{Name: name, Text: b}
}

func importCase(t *testing.T, agent string, connectors []string) (convert.Result, []convert.Input) {
	t.Helper()
	all := []convert.Input{source(t, agent)}
	for _, name := range connectors {
		all = append(all, source(t, name))
	}
	made, err := opensearch.Convert(all[0], all[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return made, all
}

// TestEveryValueIsInTheSpecOrANote checks all values of the sources: each is in a
// generated file, or has a note.
func TestEveryValueIsInTheSpecOrANote(t *testing.T) {
	for _, tc := range openSearchCases {
		t.Run(tc.name, func(t *testing.T) {
			made, sources := importCase(t, tc.agent, tc.connectors)
			losesNothing(t, made, sources)
		})
	}
}

// TestPublicBodiesLoseNothing checks the same for bodies found in public.
func TestPublicBodiesLoseNothing(t *testing.T) {
	goldentest.Each(t, openSearchSources+"/wild/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		if name := path.Base(t.Name()); name == "flow-framework-template" || name == "found-by-a-search" {
			t.Skip("what stands around an agent is not the agent's")
		}
		dir := t.TempDir()
		a.Extract(t, dir)
		var all []convert.Input
		for _, name := range []string{"agent.json", "connector.json", "connector2.json", "connector3.json", "executor.json"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			in := convert.Input{Name: name, Text: b}
			if name == "executor.json" {
				in.Agent = "exec-1"
			}
			all = append(all, in)
		}
		made, err := opensearch.Convert(all[0], all[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		losesNothing(t, made, all)
	})
}

// losesNothing checks that every value of the sources is in a generated file or
// has a note.
func losesNothing(t *testing.T, made convert.Result, sources []convert.Input) {
	t.Helper()
	var written strings.Builder
	for _, f := range made.Files {
		written.Write(f.Text)
	}
	for _, in := range sources {
		for path, value := range leaves(t, in.Text) {
			if !hasNote(made.Notes, in.Name, path) && !isWritten(written.String(), path, value) {
				t.Errorf("%s: nothing became of %s (%q), and no note says so", in.Name, path, value)
			}
		}
	}
}

// structural matches keys whose values the structure of the spec expresses.
var structural = regexp.MustCompile(`(^(_source\.)?type|tools\[\d+\]\.type|hooks\.\w+\[\d+\]\.type|_id|_index)$`)

// hasNote reports whether a value or one of its parents has a note.
func hasNote(notes []convert.Note, file, path string) bool {
	return slices.ContainsFunc(notes, func(n convert.Note) bool {
		rest, ok := strings.CutPrefix(path, n.Path)
		return n.File == file && ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// isWritten reports whether the words of a value are in the output. References are
// ignored.
func isWritten(written, path, value string) bool {
	if structural.MatchString(path) {
		return true
	}
	for _, part := range regexp.MustCompile(`\$\{[^}]*\}|[\s"\\\[\]{},]+`).Split(value, -1) {
		if !strings.Contains(written, part) {
			return false
		}
	}
	return true
}

// leaves returns the scalars of a source by path. It uses another reader than the
// one under test.
func leaves(t *testing.T, src []byte) map[string]string {
	t.Helper()
	v := parsed(t, src)
	if m, ok := v.(map[string]any); ok && m["_source"] != nil {
		v = map[string]any{"_source": m["_source"]}
	}
	out := map[string]string{}
	walk(out, "", v)
	if len(out) < 5 {
		t.Fatalf("only %d values in a source", len(out))
	}
	return out
}

// parsed returns a source as a Go value, with non-JSON syntax removed.
func parsed(t *testing.T, src []byte) (v any) {
	t.Helper()
	s := regexp.MustCompile(`(?m)^(POST|GET).*$|\s//.*$|^\s*\.\.\.\.\s*$`).ReplaceAll(src, nil)
	if err := json.Unmarshal(s, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func walk(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, sub := range v {
			at := strings.TrimPrefix(path+"."+key, ".")
			if strings.Contains(key, ".") {
				at = fmt.Sprintf("%s[%q]", path, key)
			}
			walk(out, at, sub)
		}
	case []any:
		for i, sub := range v {
			walk(out, fmt.Sprintf("%s[%d]", path, i), sub)
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}

// TestOpenSearchGolden compares the results, files and notes, with
// testdata/import/opensearch/golden. make golden rewrites them.
func TestOpenSearchGolden(t *testing.T) {
	for _, tc := range openSearchCases {
		t.Run(tc.name, func(t *testing.T) {
			made, sources := importCase(t, tc.agent, tc.connectors)
			var b strings.Builder
			for i, in := range sources {
				fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", min(i, 1)), in.Name)
			}
			b.WriteString("\n")
			for _, n := range made.Notes {
				fmt.Fprintf(&b, "%s %s: %s: %s\n", n.Outcome, n.File, n.Path, n.What)
			}
			for _, f := range made.Files {
				fmt.Fprintf(&b, "-- %s --\n%s\n", f.Path, strings.TrimSuffix(string(f.Text), "\n"))
			}
			name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(tc.name), "-"), "-")
			goldentest.File(t, "../"+openSearchSources+"/golden/"+name+".txtar", b.String())
		})
	}
}

func TestSecretsAreNotCopied(t *testing.T) {
	for _, tc := range openSearchCases {
		made, _ := importCase(t, tc.agent, tc.connectors)
		for _, f := range made.Files {
			for _, secret := range []string{"not-a-key", "AKIA-not-one", "nor-this", "nor-that", "not-one"} {
				if strings.Contains(string(f.Text), secret) {
					t.Errorf("%s: %s holds the secret %q", tc.name, f.Path, secret)
				}
			}
		}
	}
}

func TestRefusesOtherFiles(t *testing.T) {
	for _, tc := range []struct{ name, src, want string }{
		{"a flow agent", `{"name":"f","type":"flow","tools":[]}`, "a.json: a flow agent has no plan"},
		{"a conversational flow", `{"name":"f","type":"conversational_flow","tools":[]}`, "write it as a graph of nodes of type tool"},
		{"another type", `{"name":"f","type":"swarm","tools":[]}`, `the agent's type is "swarm"; plan_execute_and_reflect and conversational can be imported`},
		{"something else", `{"a": 1}`, "a.json: there is no agent in it"},
		{"a connector", `{"protocol":"http","actions":[]}`, "a.json: there is no agent in it"},
		{"a list", `[1]`, "a.json: a JSON object is expected"},
		{"nothing", ` `, "a.json: there is no JSON in it"},
		{"half of it", "{\n  \"name\": \"x\n", "a.json:2:11: the text does not end"},
		{"no colon", "{\"a\" 1}", "a.json:1:6: a colon is expected"},
		{"YAML", "name: x", `a.json:1:1: "name: x" is no JSON value`},
		{"no text", "\xff\xfe", "a.json: the file is no text in UTF-8"},
		{"too deep", strings.Repeat("[", 300), "lie in each other"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := opensearch.Convert(convert.Input{Name: "a.json", Text: []byte(tc.src)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	_, err := opensearch.Convert(source(t, "agent.json"), convert.Input{Name: "c.json", Text: []byte(`{"a":1}`)})
	if err == nil || !strings.Contains(err.Error(), "c.json: there is no connector in it") {
		t.Errorf("a file that is no connector: %v", err)
	}
}

// TestOtherNotationsConvertAlike converts the same agent in other notations.
func TestOtherNotationsConvertAlike(t *testing.T) {
	body := `"name": "x", "type": "plan_execute_and_reflect", "llm": {"model_id": "m"}`
	for _, tc := range []struct{ name, src, want string }{
		{"a comma too many", "{" + body + `, "parameters": {"max_steps": "7",},}`, "max_steps: 7"},
		{"comments", "# mine\n{" + body + ` /* a */, "parameters": {"max_steps": 7} // b` + "\n}", "max_steps: 7"},
		{"a console's history", "GET _cat/indices\nPOST _plugins/_ml/agents/_register\n{" + body + `, "parameters": {"max_steps": 7}}`, "max_steps: 7"},
		{"three quotes", "{" + body + `, "parameters": {"planner_prompt": """Say "yes".` + "\n" + `Or no."""}}`, "Say \"yes\".\n    Or no."},
		{"a key twice", "{" + body + `, "parameters": {"max_steps": 1, "max_steps": 7}}`, "max_steps: 7"},
		{"a number with a point", "{" + body + `, "parameters": {"max_steps": 7.0}}`, "max_steps: 7"},
		{"a number that is none", "{" + body + `, "parameters": {"max_steps": "many"}}`, "!max_steps"},
		{"parameters as text", "{" + body + `, "parameters": "{\"max_steps\": 7}"}`, "max_steps: 7"},
		{"tools as text", "{" + body + `, "tools": "[{\"type\":\"ListIndexTool\"}]"}`, "ListIndexTool:"},
		{"a connector beside it", "{" + body + `} POST x` + "\n" + `{"name":"c","protocol":"http","parameters":{"model":"gpt-4o"},"actions":[{"action_type":"predict","url":"https://api.openai.com/v1/chat/completions"}]}`, "model: gpt-4o"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			made, err := opensearch.Convert(convert.Input{Name: "a.json", Text: []byte(tc.src)})
			if err != nil {
				t.Fatal(err)
			}
			spec := string(made.Files[0].Text)
			if not, ok := strings.CutPrefix(tc.want, "!"); ok == strings.Contains(spec, not) && ok || !ok && !strings.Contains(spec, tc.want) {
				t.Errorf("want %s in\n%s\nnotes: %v", tc.want, spec, made.Notes)
			}
		})
	}
}

// FuzzOpenSearch checks that any JSON as agent and connector is either rejected
// or converted to valid YAML, without a panic.
func FuzzOpenSearch(f *testing.F) {
	for _, tc := range openSearchCases {
		agent, err := os.ReadFile(filepath.Join(openSearchSources, tc.agent))
		if err != nil {
			f.Fatal(err)
		}
		var connector []byte
		if len(tc.connectors) > 0 {
			if connector, err = os.ReadFile(filepath.Join(openSearchSources, tc.connectors[0])); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(agent, connector)
	}
	f.Add([]byte(`{"type":"conversational","tools":[{"type":{}},[],null,"PPLTool"],"parameters":{"mcp_connectors":[1,{}],"system_prompt":"${parameters.}${parameters.\u0000}"}}`), []byte(`{"protocol":"http","actions":{"a":[]}}`))
	f.Fuzz(func(t *testing.T, agent, connector []byte) {
		made, err := opensearch.Convert(convert.Input{Name: "a.json", Text: agent}, convert.Input{Name: "c.json", Text: connector})
		if err != nil {
			made, err = opensearch.Convert(convert.Input{Name: "a.json", Text: agent})
		}
		if err != nil {
			return
		}
		for _, file := range made.Files {
			var v any
			if strings.HasSuffix(file.Path, ".yaml") {
				if err := yaml.Unmarshal(file.Text, &v); err != nil {
					t.Fatalf("%s is no YAML: %v\n%s", file.Path, err, file.Text)
				}
			}
		}
	})
}

// TestDatetimePatterns converts Java patterns to strftime.
func TestDatetimePatterns(t *testing.T) {
	for _, tc := range []struct{ name, java, want string }{
		{"the default", "yyyy-MM-dd'T'HH:mm:ss'Z'", "%Y-%m-%dT%H:%M:%SZ"},
		{"names", "EEEE, MMMM dd yyyy hh:mm a", "%A, %B %d %Y %I:%M %p"},
		{"an offset", "yyyyMMddHHmmssXXX", "%Y%m%d%H%M%SZ"},
		{"a quote and a per cent", "dd'' 'of' MM %", "%d' of %m %%"},
		{"a quote in quotes", "HH 'o''clock'", "%H o'clock"},
		{"milliseconds", "ss.SSS", ""},
		{"an optional part", "yyyy[-MM]", ""},
		{"a quote that does not end", "yyyy 'year", "%Y year"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := fmt.Sprintf(`{"name":"x","type":"plan_execute_and_reflect","inject_datetime":true,"datetime_format":%q}`, tc.java)
			made, err := opensearch.Convert(convert.Input{Name: "a.json", Text: []byte(body)})
			if err != nil {
				t.Fatal(err)
			}
			var spec struct {
				Format string `yaml:"datetime_format"`
			}
			if err := yaml.Unmarshal(made.Files[0].Text, &spec); err != nil {
				t.Fatal(err)
			}
			if spec.Format != tc.want {
				t.Errorf("got %q, want %q", spec.Format, tc.want)
			}
		})
	}
}
