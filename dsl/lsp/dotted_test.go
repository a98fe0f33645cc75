package lsp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// named is a spec with a dotted name, a path with a similar spelling, and all
// notations of both; %% is the reflector's condition.
const named = `apiVersion: pex/v1
kind: Agent
metadata: {name: x}
llms: {main: {provider: scripted}}
parameters:
  user: {type: object, default: {id: 3}, properties: {id: {type: integer}}}
  user.name: {type: string, default: x}
planner:
  system_prompt: "${parameters.user.id} ${parameters. user . name } ${parameters.user.name.x} $<parameters.user>"
guards:
  - {name: a, at: after_step, do: stop, when: 'parameters.user.id == 3'}
  - {name: b, at: after_step, do: stop, when: "parameters[\"user.name\"] == 'x' or parameters?.user == nil"}
`

// unmarked returns a text without its mark.
func unmarked(marked string) string { return strings.Replace(marked, "‸", "", 1) }

type edits map[string][]struct {
	NewText string
	Range   struct{ Start, End struct{ Line, Character int } }
}

// applied returns a text after changes, applied from last to first.
func applied(text string, changes edits, uri string) string {
	lines := strings.Split(text, "\n")
	for _, e := range slices.Backward(changes[uri]) {
		line := lines[e.Range.Start.Line]
		lines[e.Range.Start.Line] = line[:e.Range.Start.Character] + e.NewText + line[e.Range.End.Character:]
	}
	return strings.Join(lines, "\n")
}

// TestRenameKnowsDottedNames: the longest declared name wins, the rest is a path,
// and in an expression a name that is not an identifier is an index.
func TestRenameKnowsDottedNames(t *testing.T) {
	cases := []struct{ name, marked, to, want string }{
		{"of a dotted name", strings.Replace(named, "user.name:", "user.na‸me:", 1), "who", strings.NewReplacer(
			"user.name:", "who:", " user . name }", " who }", "${parameters.user.name.x}", "${parameters.who.x}", `[\"user.name\"]`, `[\"who\"]`).Replace(named)},
		{"of a dotted name, at its end in a template", strings.Replace(named, "user . name }", "user . na‸me }", 1), "who", strings.NewReplacer(
			"user.name:", "who:", " user . name }", " who }", "${parameters.user.name.x}", "${parameters.who.x}", `[\"user.name\"]`, `[\"who\"]`).Replace(named)},
		{"of a name that others begin with", strings.Replace(named, "user:", "us‸er:", 1), "by", strings.NewReplacer(
			"  user:", "  by:", "parameters.user.id", "parameters.by.id", "<parameters.user>", "<parameters.by>", "?.user", "?.by").Replace(named)},
		{"to a dotted name", strings.Replace(named, "user:", "us‸er:", 1), "by.whom", strings.NewReplacer(
			"  user:", "  by.whom:", "${parameters.user.id", "${parameters.by.whom.id", "'parameters.user.id", `'parameters["by.whom"].id`,
			"<parameters.user>", "<parameters.by.whom>", "?.user", "?.['by.whom']").Replace(named)},
		{"to a name with a dash", strings.Replace(named, "user:", "us‸er:", 1), "by-whom", strings.NewReplacer(
			"  user:", "  by-whom:", "${parameters.user.id", "${parameters.by-whom.id", "'parameters.user.id", `'parameters["by-whom"].id`,
			"<parameters.user>", "<parameters.by-whom>", "?.user", "?.['by-whom']").Replace(named)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cl, uri, p := opened(t, nil, "spec.yaml", c.marked)
			if d := cmp.Diff(c.want, applied(unmarked(c.marked), cl.renames(p, c.to), uri)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRenameRejectsNamesInUse: a name that cannot be written in the
// place of the old one, or that is already used with another meaning, is
// rejected.
func TestRenameRejectsNamesInUse(t *testing.T) {
	plain := strings.Replace(named, "'parameters.user.id == 3'", "parameters.user.id == 3", 1)
	cases := []struct{ name, marked, to, want string }{
		{"a path that templates write", strings.Replace(named, "user.name:", "user.na‸me:", 1), "user.id", "in templates, user.id is a part of user"},
		{"brackets in a flow mapping", strings.Replace(plain, "user:", "us‸er:", 1), "by.whom", "spec.yaml:11 uses user without quotes inside braces"},
		{"two dots", strings.Replace(named, "user:", "us‸er:", 1), "by..whom", "single dots"},
		{"dots of what is no parameter", strings.Replace(named, "main:", "ma‸in:", 1), "by.whom", "letters, digits, _ and -"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cl, _, p := opened(t, nil, "spec.yaml", c.marked)
			cl.refuses(p, c.to, c.want)
		})
	}
}

// TestCompletionWritesDottedNamesAsIndexes: after a dot in an expression the dot
// is replaced; in a template it is an ordinary name.
func TestCompletionWritesDottedNamesAsIndexes(t *testing.T) {
	cases := []struct{ name, marked, want string }{
		{"behind a dot", strings.Replace(named, "'parameters.user.id == 3'", "'parameters.‸'", 1), `'parameters["user.name"]'`},
		{"behind the beginning", strings.Replace(named, "'parameters.user.id == 3'", "'parameters.us‸'", 1), `'parameters["user.name"]'`},
		{"in double quotes", strings.Replace(named, "'parameters.user.id == 3'", `"parameters.us‸"`, 1), `"parameters['user.name']"`},
		{"in an index", strings.Replace(named, "'parameters.user.id == 3'", `'parameters["‸"]'`, 1), `'parameters["user.name"]'`},
		{"in a list between brackets", named + "output: {ensures: [‸]}\n", "[parameters]"},
		{"in a template", strings.Replace(named, "$<parameters.user>", "${parameters.us‸}", 1), "${parameters.user.name}"},
		{"in an unfinished condition before brackets", strings.Replace(named, "'parameters.user.id == 3'}", "\"parameters.us‸}", 1), "\"parameters['user.name']}"},
		{"in an unfinished condition in double quotes", strings.Replace(named, "'parameters.user.id == 3'}", "\"parameters.us‸", 1), "\"parameters['user.name']"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cl, uri, p := opened(t, nil, "spec.yaml", c.marked)
			var r struct {
				Items []struct {
					Label    string
					TextEdit struct {
						NewText string
						Range   struct{ Start, End struct{ Line, Character int } }
					}
				}
			}
			cl.ask("textDocument/completion", p, &r)
			for _, it := range r.Items {
				if it.Label == "user.name" || it.Label == strings.Trim(c.want, "[]") {
					got := applied(unmarked(c.marked), edits{uri: {it.TextEdit}}, uri)
					if !strings.Contains(got, c.want) {
						t.Errorf("it becomes %s", got)
					}
					return
				}
			}
			t.Errorf("it is not offered: %+v", r.Items)
		})
	}
}
