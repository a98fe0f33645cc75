package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/pexctl/pex/cmd/pexctl/docscmd"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/guard"
	specschema "github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/engine/model"
)

const top = "../.."

func TestEventsPageHasEveryType(t *testing.T) {
	var want, got []string
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, "engine", "event.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if name, ok := v.Type.(*ast.Ident); ok && name.Name == "EventType" {
				word, _ := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				want = append(want, word)
			}
		}
		return true
	})
	for _, e := range docscmd.EventDocs {
		got = append(got, string(e.Type))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("engine/event.go has what the page has not (-), or less (+):\n%s", diff)
	}
}

// Who writes a spec by the reference alone finds where its key goes.
func TestComponentsPageSaysWhereKeysAreLookedFor(t *testing.T) {
	_, page, err := docscmd.LanguagePages(components())
	if err != nil {
		t.Fatal(err)
	}
	keyed := 0
	for _, f := range components().Models {
		_, part, _ := strings.Cut(string(page), "### `provider: "+f.Type+"`")
		part, _, _ = strings.Cut(part, "\n### ")
		for _, name := range model.KeyVariablesOf(f.Config()).Names {
			if keyed++; !strings.Contains(part, name) {
				t.Errorf("%s: nothing is said of %s", f.Type, name)
			}
		}
	}
	if keyed < 8 {
		t.Errorf("%d key variables are known, 8 were", keyed)
	}
}

func TestExpressionsPageHasEveryPlace(t *testing.T) {
	if diff := cmp.Diff(guard.Places(), slices.Sorted(maps.Keys(docscmd.Places))); diff != "" {
		t.Error(diff)
	}
	for _, place := range guard.Places() {
		if len(docscmd.NamesAt(place)) == 0 {
			t.Errorf("%s has no names", place)
		}
	}
}

// writeDocs is pexctl docs for the specs of the house.
func writeDocs(t *testing.T) string {
	t.Helper()
	specs, err := filepath.Glob(filepath.Join(top, "specs", "*", "spec.yaml"))
	if err != nil || len(specs) == 0 {
		t.Fatalf("no specs (%v)", err)
	}
	dir := t.TempDir()
	var stderr bytes.Buffer
	if code := run(append([]string{"docs", dir}, specs...), streams{strings.NewReader(""), io.Discard, &stderr}); code != ui.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	return dir
}

func TestReferenceIsWhole(t *testing.T) {
	oneGoroutine(t)
	dir := writeDocs(t)
	wants := map[string][]string{
		"commands.md":            {"## pexctl run\n", "--params FILE", "Exit codes: 0 success"},
		"components.md":          {"### `planner`", "`provider: scripted`", "### `calculator`"},
		"diagnostics.md":         {"## PEX012\n"},
		"events.md":              {"| `run.started` |", "| `totals.by_model.<name>.cost_usd` | number |"},
		"expressions.md":         {"| `run.steps_executed` | whole number |", "`hasPrefix(text, prefix)`"},
		"graphs/sales-report.md": {"```mermaid\nflowchart TD\n"},
		"result.md":              {"| `final_response.stop_reason` | text |", "| `conversation[].usage.input_tokens` | whole number |"},
		"language.md":            {"`limits.max_steps`", "## `llms.<name>`"},
	}
	for name, texts := range wants {
		page, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
		}
		for _, want := range texts {
			if !bytes.Contains(page, []byte(want)) {
				t.Errorf("%s does not hold %q", name, want)
			}
		}
		if strings.Contains(string(page), "pexctl docs\n\n```") {
			t.Errorf("%s shows the hidden command", name)
		}
	}
	checkLinks(t, dir)
}

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	yamlBlock = regexp.MustCompile("(?s)```yaml\n((?:#[^\n]*\n)?apiVersion:.*?)```")
)

// pages are the Markdown files of the house, and below a folder of it.
func pages(t *testing.T, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// checkLinks follows the links to files and to headings in them.
func checkLinks(t *testing.T, dirs ...string) {
	t.Helper()
	for _, path := range pages(t, dirs...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(string(m[1]), "#")
			if strings.Contains(to, "://") {
				continue
			}
			file := path
			if to != "" {
				file = filepath.Join(filepath.Dir(path), filepath.FromSlash(to))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the link to %s is dead", path, to)
			} else if anchor != "" && !slices.Contains(anchors(t, file), anchor) {
				t.Errorf("%s: %s has no heading #%s", path, file, anchor)
			}
		}
	}
}

var (
	fencedBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading     = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unanchored  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names that GitHub gives the headings of a page.
func anchors(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range heading.FindAllSubmatch(fencedBlock.ReplaceAll(text, nil), -1) {
		out = append(out, strings.ReplaceAll(unanchored.ReplaceAllString(strings.ToLower(string(m[1])), ""), " ", "-"))
	}
	return out
}

func TestLinksOfThePagesLead(t *testing.T) {
	oneGoroutine(t)
	checkLinks(t, filepath.Join(top, "docs"), filepath.Join(top, "specs"))
	checkLinks(t, filepath.Join(top, "README.md"), filepath.Join(top, "SECURITY.md"))
}

func TestSchemaTakesTheSpecs(t *testing.T) {
	oneGoroutine(t)
	c := jsonschema.NewCompiler()
	if err := c.AddResource("pex:///spec", bytes.NewReader(specschema.New(components().Catalog, components().Checks.Blueprints("check")))); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("pex:///spec")
	if err != nil {
		t.Fatal(err)
	}
	specs, err := filepath.Glob(filepath.Join(top, "specs", "*", "spec.yaml"))
	if err != nil || len(specs) == 0 {
		t.Fatalf("no specs (%v)", err)
	}
	for _, path := range specs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, found := dsl.JSON(path, text)
		if len(found) > 0 {
			t.Fatal(found)
		}
		var v any
		if err := json.Unmarshal(doc, &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %#v", path, err)
		}
	}
}
