package lsp_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
)

// mark cuts the mark ‸ out of a text, and says where it stood.
func mark(marked string) (text string, line, character int) {
	before, after, _ := strings.Cut(marked, "‸")
	return before + after, strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n") - 1
}

const (
	boss = "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: boss}\nllms: {main: {provider: scripted}}\nparameters: {topic: {type: string, default: x}}\n" +
		"tools:\n  helper: {type: agent, ref: helper.yaml, with: {topic: \"${parameters.topic}\"}}\n  other: {type: agent, ref: other.yaml, with: {topic: x}}\n" +
		"graph: {nodes: [{id: a, type: agent, agent: ./helper.yaml, parameters: {topic: y}}], edges: [{from: a, to: end}]}\n"
	helper = "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: helper}\nllms: {main: {provider: scripted}}\nparameters: {topic: {type: string, default: x}}\n" +
		"planner: {system_prompt: \"On ${parameters.topic}.\"}\n"
	suite = "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: s}\nspec: helper.yaml\ndataset: {rows: [{id: a, about: b}], parameters: {topic: \"${case.about}\"}}\nchecks: []\n"
)

// TestRenameReachesTheCallers: whoever passes a parameter passes it by its new
// name, open or not, and nothing else is touched.
func TestRenameReachesTheCallers(t *testing.T) {
	want := []string{
		"boss.yaml 6 topic", "boss.yaml 8 topic", // the keys of with and parameters, and not what is passed
		"helper.yaml 4 topic", "helper.yaml 5 topic",
		"suite.yaml 4 topic",
	}
	cases := []struct{ name, file, text string }{
		{"from where it is defined", "helper.yaml", strings.Replace(helper, "{topic", "{to‸pic", 1)},
		{"from where a tool passes it", "boss.yaml", strings.Replace(boss, "with: {topic", "with: {to‸pic", 1)},
		{"from where a node passes it", "boss.yaml", strings.Replace(boss, "parameters: {topic: y", "parameters: {to‸pic: y", 1)},
	}
	files := map[string]string{"pex.lock": "", "boss.yaml": boss, "helper.yaml": helper, "other.yaml": helper, "suite.yaml": suite}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			uri := project(t, files)
			cl := connect(t, dsl.Options{})
			cl.begin(object{})
			text, line, character := mark(c.text)
			cl.open(uri(c.file), text, 1)
			p := at(uri(c.file), line, character)
			p["newName"] = "subject"
			var r struct {
				Changes map[string][]struct {
					NewText string
					Range   struct{ Start, End struct{ Line, Character int } }
				}
			}
			cl.ask("textDocument/rename", p, &r)
			var got []string
			for u, edits := range r.Changes {
				for _, e := range edits {
					name := path.Base(u)
					row := strings.Split(files[name], "\n")[e.Range.Start.Line]
					got = append(got, fmt.Sprintf("%s %d %s", name, e.Range.Start.Line, row[e.Range.Start.Character:e.Range.End.Character]))
				}
			}
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			var found []struct{ URI string }
			p["context"] = object{"includeDeclaration": true}
			if cl.ask("textDocument/references", p, &found); len(found) != len(want) {
				t.Errorf("references: %+v", found)
			}
			var defined []struct{ URI string }
			if cl.ask("textDocument/definition", p, &defined); len(defined) != 1 || path.Base(defined[0].URI) != "helper.yaml" {
				t.Errorf("definition: %+v", defined)
			}
		})
	}
}

// TestRenameRefusesWhatItCannotTell: with the reason.
func TestRenameRefusesWhatItCannotTell(t *testing.T) {
	inner := "agents: {one: {parameters: {topic: {type: string, default: x}}, llms: {main: {provider: scripted}}}}\n"
	cases := []struct {
		name, text, want string
		files            map[string]string
	}{
		{"agents of one file with a parameter of the same name", strings.Replace(helper, "{topic", "{to‸pic", 1) + inner, "several agents have a parameter topic", nil},
		{
			"a column of a dataset that has its name", strings.Replace(helper, "{topic", "{to‸pic", 1), "the dataset of suite.yaml gives topic by a column of that name",
			map[string]string{"suite.yaml": "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: s}\nspec: helper.yaml\ndataset: {rows: [{id: a, topic: b}]}\nchecks: []\n"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			uri := project(t, c.files)
			cl := connect(t, dsl.Options{})
			cl.begin(object{})
			text, line, character := mark(c.text)
			cl.open(uri("helper.yaml"), text, 1)
			p := at(uri("helper.yaml"), line, character)
			p["newName"] = "subject"
			_, err := cl.Call(context.Background(), "textDocument/rename", p)
			var e *jrpc2.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, c.want) {
				t.Errorf("it says %v, want %q", err, c.want)
			}
		})
	}
}
