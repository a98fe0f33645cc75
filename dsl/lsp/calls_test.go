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

// mark removes the mark ‸ from a text and returns its position.
func mark(marked string) (text string, line, character int) {
	before, after, _ := strings.Cut(marked, "‸")
	return before + after, strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n") - 1
}

// opened starts a client on a project's files and opens one of them. asked holds
// the params of requests at its mark.
func opened(t *testing.T, files map[string]string, file, marked string) (cl *client, uri string, asked object) {
	t.Helper()
	uri = project(t, files)(file)
	cl = connect(t, dsl.Options{})
	cl.begin(object{})
	text, line, character := mark(marked)
	cl.open(uri, text, 1)
	return cl, uri, at(uri, line, character)
}

// renames requests a new name at the mark.
func (c *client) renames(asked object, to string) (changes edits) {
	c.t.Helper()
	asked["newName"] = to
	var r struct{ Changes edits }
	c.ask("textDocument/rename", asked, &r)
	return r.Changes
}

// refuses checks that a new name is rejected, with a reason.
func (c *client) refuses(asked object, to, want string) {
	c.t.Helper()
	asked["newName"] = to
	_, err := c.Call(context.Background(), "textDocument/rename", asked)
	var e *jrpc2.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
		c.t.Errorf("it says %v, want %q", err, want)
	}
}

// touched returns the places of changes: the file, the line from 0, and the
// current text.
func touched(files map[string]string, changes edits) (out []string) {
	for uri, edits := range changes {
		for _, e := range edits {
			name := path.Base(uri)
			row := strings.Split(files[name], "\n")[e.Range.Start.Line]
			out = append(out, fmt.Sprintf("%s %d %s", name, e.Range.Start.Line, row[e.Range.Start.Character:e.Range.End.Character]))
		}
	}
	slices.Sort(out)
	return out
}

const (
	boss = "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: boss}\nllms: {main: {provider: scripted}}\nparameters: {topic: {type: string, default: x}}\n" +
		"tools:\n  helper: {type: agent, ref: helper.yaml, with: {topic: \"${parameters.topic}\"}}\n  other: {type: agent, ref: other.yaml, with: {topic: x}}\n" +
		"graph: {nodes: [{id: a, type: agent, agent: ./helper.yaml, parameters: {topic: y}}], edges: [{from: a, to: end}]}\n"
	helper = "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: helper}\nllms: {main: {provider: scripted}}\nparameters: {topic: {type: string, default: x}}\n" +
		"planner: {system_prompt: \"On ${parameters.topic}.\"}\n"
	suite = "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: s}\nspec: helper.yaml\ndataset: {rows: [{id: a, about: b}], parameters: {topic: \"${case.about}\"}}\nchecks: []\n"
)

// TestRenameUpdatesCallers: callers pass a parameter by its new name, in open
// and other files, and nothing else changes.
func TestRenameUpdatesCallers(t *testing.T) {
	want := []string{
		"boss.yaml 6 topic", "boss.yaml 8 topic", // the keys of with and parameters, and not the values
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
			cl, _, p := opened(t, files, c.file, c.text)
			got := touched(files, cl.renames(p, "subject"))
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

// TestRenameRejectsAmbiguousNames: a rejected name has a reason.
func TestRenameRejectsAmbiguousNames(t *testing.T) {
	inner := "agents: {one: {parameters: {topic: {type: string, default: x}}, llms: {main: {provider: scripted}}}}\n"
	cases := []struct {
		name, text, want string
		files            map[string]string
	}{
		{"agents of one file with a parameter of the same name", strings.Replace(helper, "{topic", "{to‸pic", 1) + inner, "several agents have a parameter topic", nil},
		{
			"a column of a dataset that has its name", strings.Replace(helper, "{topic", "{to‸pic", 1), "the dataset of suite.yaml sets topic from a column of that name",
			map[string]string{"suite.yaml": "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: s}\nspec: helper.yaml\ndataset: {rows: [{id: a, topic: b}]}\nchecks: []\n"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cl, _, p := opened(t, c.files, "helper.yaml", c.text)
			cl.refuses(p, "subject", c.want)
		})
	}
}
