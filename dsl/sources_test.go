package dsl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
)

func TestSourcesAreTheTextsWithTheirPlaces(t *testing.T) {
	write(t, map[string]string{
		"spec.yaml": `apiVersion: pex/v1
kind: Agent
metadata: {name: demo}
include: [lib.yaml]
parameters:
  style:
    type: string
    default: Be brief.
prompts:
  who: |

    You plan.
    You are careful.
planner:
  system_prompt: {use: who}
  planner_prompt: {file: plan.md}
reflector:
  reflect_prompt: >-
    Think
    again, and

    then go on.
limits: {max_steps: 3}
tools:
  clock: {}
tests:
  - {name: x, render: planner}
`,
		"lib.yaml": "apiVersion: pex/v1\nkind: Library\nllms:\n  main: {provider: scripted, system_prompt: \"one\\ntwo\"}\n",
		"plan.md":  "First.\r\nSecond.\r\n",
	})
	s, _ := dsl.Load("spec.yaml", dsl.Options{Catalog: catalog, Set: []string{"limits.max_replans=2"}})
	got := map[string]dsl.Source{}
	for _, src := range s.Sources() {
		if _, twice := got[src.Path]; twice {
			t.Errorf("%s stands twice", src.Path)
		}
		got[src.Path] = src
	}
	for _, c := range []struct {
		path, file, text string
		line             int
		within           string // a part of the text
		at               int    // its line
	}{
		{"parameters.style.default", "spec.yaml", "Be brief.", 8, "brief", 8},
		{"prompts.who", "spec.yaml", "\nYou plan.\nYou are careful.\n", 11, "careful", 13},
		{"planner.system_prompt", "spec.yaml", "\nYou plan.\nYou are careful.\n", 11, "You are", 13},
		{"planner.planner_prompt", "plan.md", "First.\r\nSecond.\r\n", 1, "Second", 2},
		{"reflector.reflect_prompt", "spec.yaml", "Think again, and\nthen go on.", 19, "then", 22},
		{"llms.main.system_prompt", "lib.yaml", "one\ntwo", 4, "two", 4},
		{"limits.max_steps", "spec.yaml", "3", 23, "3", 23},
		{"tools.clock", "spec.yaml", "clock", 25, "clock", 25},
		{"limits.max_replans", "--set limits.max_replans=2", "2", 0, "2", 0},
	} {
		src, ok := got[c.path]
		if !ok {
			t.Errorf("%s is missing", c.path)
			continue
		}
		if src.File != c.file || src.Text != c.text || src.Line != c.line {
			t.Errorf("%s is %s:%d %q", c.path, src.File, src.Line, src.Text)
		}
		if line := src.LineAt(strings.Index(src.Text, c.within)); line != c.at {
			t.Errorf("%s: %q stands in line %d, not %d", c.path, c.within, line, c.at)
		}
	}
	for path := range got {
		if strings.HasPrefix(path, "tests") || path == "kind" || strings.HasPrefix(path, "include") {
			t.Errorf("%s is no source", path)
		}
	}
}

// Prompts of an agent within never reach a prompt of its caller.
func TestSourcesOfAnAgentArePublicTexts(t *testing.T) {
	write(t, map[string]string{"spec.yaml": head + `tools:
  help: {type: agent, ref: '#helper', effect: read}
prompts: {tone: Be brief and kind.}
planner: {system_prompt: 'Lead. ${prompts.tone}'}
agents:
  helper:
    metadata: {description: Knows the way.}
    parameters: {city: {type: string, description: Which city.}}
    planner: {system_prompt: 'Help. ${prompts.tone}'}
`})
	s, found := dsl.Load("spec.yaml", dsl.Options{Catalog: catalog})
	if found.Failed() {
		t.Fatal(found)
	}
	seen := map[string]string{}
	for _, src := range s.Sources() {
		if rest, within := strings.CutPrefix(src.Path, "tools.help.ref.spec."); within {
			seen[rest] = src.Text
		}
	}
	want := map[string]string{
		"metadata.name": "helper", "metadata.description": "Knows the way.",
		"parameters.city.type": "string", "parameters.city.description": "Which city.",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

func TestSourcesIncludeBuiltInTexts(t *testing.T) {
	write(t, map[string]string{"spec.yaml": "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: demo}\nllms:\n  main: {provider: scripted}\n"})
	s, _ := dsl.Load("spec.yaml", dsl.Options{Catalog: catalog})
	for _, o := range s.Explain() {
		if o.Origin != "default" {
			continue
		}
		i := 0
		for _, src := range s.Sources() {
			if src.Path != o.Path {
				continue
			}
			i++
			if src.File != "" || src.Line != 0 || src.LineAt(3) != 0 || !strings.HasPrefix(o.Value, src.Text) {
				t.Errorf("%+v", src)
			}
		}
		if want := min(1, len(o.Value)/20); i != want {
			t.Errorf("%s stands %d times: %q", o.Path, i, o.Value)
		}
	}
}
