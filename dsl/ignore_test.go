package dsl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/lockfile"
)

const ignoreHead = `apiVersion: pex/v1
kind: Agent
metadata: {name: demo}
llms: {main: {provider: scripted}}
`

// laid writes files to a folder and changes to it.
func laid(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func vetOptions() dsl.Options {
	return dsl.Options{Catalog: catalog, Checks: checks, Pins: lockfile.Read, Analyzers: []dsl.Analyzer{}}
}

// inShort formats diagnostics as "line CODE".
func inShort(found diag.List) []string {
	out := []string{}
	for _, d := range found {
		out = append(out, fmt.Sprintf("%s:%d %s", d.File, d.Line, d.Code))
	}
	return out
}

func TestCommentsIgnoreWarnings(t *testing.T) {
	const write = "tools:\n  write_file: {root: .}"
	cases := []struct {
		name string
		spec string // after the head of four lines
		want []string
	}{
		{"without one the warning is there", write, []string{"spec.yaml:6 PEX073"}},
		{"at the end of the line", write + " # pex:ignore PEX073 it writes drafts", nil},
		{"tight", write + " #pex:ignore PEX073 it writes drafts", nil},
		{"alone on the line before", "tools:\n  # pex:ignore PEX073 it writes drafts\n  write_file: {root: .}", nil},
		{"with a tab before it", "tools:\n  write_file: {root: .}\t# pex:ignore PEX073 it writes drafts", nil},
		{"several lines before, and an empty one", "tools:\n  # pex:ignore PEX073 it writes drafts\n  # that nobody keeps\n\n  write_file: {root: .}", nil},
		{"lines that end in CR LF", "tools:\r\n  # pex:ignore PEX073 it writes drafts\r\n  write_file: {root: .}\r\n", nil},
		{"two codes", "tools:\n  write_file: {root: ., with: {path: \"a\u200bb\"}} # pex:ignore PEX073, PEX077 a name of the old system", nil},
		{"two codes without a blank", "tools:\n  write_file: {root: ., with: {path: \"a\u200bb\"}} # pex:ignore PEX073,PEX077 a name of the old system", nil},
		{"another line is not meant", "tools: # pex:ignore PEX073 it writes drafts\n  write_file: {root: .}", []string{"spec.yaml:5 PEX083", "spec.yaml:6 PEX073"}},
		{"two lines down is not meant", "tools:\n  # pex:ignore PEX073 it writes drafts\n  clock: {}\n  write_file: {root: .}", []string{"spec.yaml:6 PEX083", "spec.yaml:8 PEX073"}},
		{"another code is not meant", write + " # pex:ignore PEX074 it is used", []string{"spec.yaml:6 PEX073", "spec.yaml:6 PEX083"}},
		{"the file", "# pex:ignore-file PEX073 too late\n" + write, []string{"spec.yaml:5 PEX082", "spec.yaml:7 PEX073"}},
		{"without a reason", write + " # pex:ignore PEX073", []string{"spec.yaml:6 PEX073", "spec.yaml:6 PEX082"}},
		{"a dash is no reason", write + " # pex:ignore PEX073 --", []string{"spec.yaml:6 PEX073", "spec.yaml:6 PEX082"}},
		{"without a code", write + " # pex:ignore", []string{"spec.yaml:6 PEX073", "spec.yaml:6 PEX082"}},
		{"a code that is not", write + " # pex:ignore PEX999 it writes drafts", []string{"spec.yaml:6 PEX073", "spec.yaml:6 PEX082"}},
		{"a way of other tools", "tools:\n  # pex:ignore-next-line PEX073 it writes drafts\n  write_file: {root: .}", []string{"spec.yaml:6 PEX082", "spec.yaml:7 PEX073"}},
		{"an error", "limits: {max_steps: 0} # pex:ignore PEX014 none is enough", []string{"spec.yaml:5 PEX014", "spec.yaml:5 PEX082"}},
		{"the check of such comments", "tools: {clock: {}} # pex:ignore PEX083 quiet", []string{"spec.yaml:5 PEX082"}},
		{"nothing", "tools: {clock: {}} # pex:ignore PEX073 it writes drafts", []string{"spec.yaml:5 PEX083"}},
		{"one of two does nothing", write + " # pex:ignore PEX073, PEX074 it writes drafts", []string{"spec.yaml:6 PEX083"}},
		{"a comment about such comments", write + " # write # pex:ignore PEX073 here", []string{"spec.yaml:6 PEX073"}},
		{"in a block it is text", "planner:\n  planner_prompt: |\n    Look at ${parameter.x} # pex:ignore PEX033 no\n    # pex:ignore PEX033 no\n", []string{"spec.yaml:7 PEX033"}},
		{"in quotes it is text", "planner:\n  planner_prompt: \"Look at ${parameter.x} # pex:ignore PEX033 no\"\n", []string{"spec.yaml:6 PEX033"}},
		{"in quotes over lines it is text", "planner:\n  planner_prompt: \"Look at ${parameter.x}\n    # pex:ignore PEX033 no\"\n", []string{"spec.yaml:6 PEX033"}},
		{"behind quotes that hold a #", "planner: {planner_prompt: \"Look at # ${parameter.x}\"} # pex:ignore PEX033 a name of theirs", nil},
		{"above a block it is for its lines", "planner:\n  # pex:ignore PEX033 a name of theirs\n  planner_prompt: |\n    Look at:\n\n    ${parameter.x}\n", nil},
		{"behind the sign of a block too", "planner:\n  planner_prompt: > # pex:ignore PEX033 a name of theirs\n    Look at:\n    ${parameter.x}\n", nil},
		{"of its own comment it hides nothing", write + " # pex:ignore PEX073, PEX077 hid\u200bden", []string{"spec.yaml:6 PEX077"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			laid(t, map[string]string{"spec.yaml": ignoreHead + c.spec + "\n"})
			_, found := dsl.Vet("spec.yaml", vetOptions())
			want := append([]string{}, c.want...)
			if diff := cmp.Diff(want, inShort(found)); diff != "" {
				t.Errorf("%s\n%s", diff, found)
			}
		})
	}
}

func TestIgnoreCommentsApplyToIncludedFiles(t *testing.T) {
	const (
		library = "apiVersion: pex/v1\nkind: Library\ntools:\n  write_file: {root: .}"
		looks   = "planner:\n  planner_prompt: {file: plan.md}\n"
		plan    = "Look at\n${parameter.x} # pex:ignore PEX033 this is no YAML\n"
	)
	cases := []struct {
		name  string
		files map[string]string
		vet   string
		want  []string
	}{
		{"the whole file", map[string]string{"spec.yaml": "# What it does.\n# pex:ignore-file PEX073 all of it are drafts\n\n" + ignoreHead + "tools:\n  write_file: {root: .}\n"}, "spec.yaml", nil},
		{"a Library", map[string]string{"spec.yaml": ignoreHead + "include: [lib.yaml]\n", "lib.yaml": library + " # pex:ignore PEX073 drafts\n"}, "spec.yaml", nil},
		{"a Library by itself may ignore what only others report", map[string]string{"lib.yaml": library + " # pex:ignore PEX073 drafts\n"}, "lib.yaml", nil},
		{"an agent that is a tool", map[string]string{
			"spec.yaml":   ignoreHead + "tools: {helper: {type: agent, ref: helper.yaml}}\n",
			"helper.yaml": ignoreHead + "tools:\n  write_file: {root: .} # pex:ignore PEX073 drafts\n",
		}, "spec.yaml", nil},
		{"a comment of who calls it does not", map[string]string{
			"spec.yaml":   ignoreHead + "tools: {helper: {type: agent, ref: helper.yaml}} # pex:ignore PEX073 drafts\n",
			"helper.yaml": ignoreHead + "tools:\n  write_file: {root: .}\n",
		}, "spec.yaml", []string{"helper.yaml:6 PEX073", "spec.yaml:5 PEX083"}},
		{"a prompt's file has none", map[string]string{"spec.yaml": ignoreHead + looks, "plan.md": plan}, "spec.yaml", []string{"plan.md:2 PEX033"}},
		{"where it is named", map[string]string{"spec.yaml": ignoreHead + strings.Replace(looks, "}\n", "} # pex:ignore PEX033 theirs\n", 1), "plan.md": plan}, "spec.yaml", nil},
		{"at the key of the file", map[string]string{"spec.yaml": ignoreHead + "planner:\n  # pex:ignore PEX033 theirs\n  planner_prompt:\n    file: plan.md\n", "plan.md": plan}, "spec.yaml", nil},
		{"hidden characters of a prompt", map[string]string{"spec.yaml": ignoreHead + strings.Replace(looks, "}\n", "} # pex:ignore PEX077 theirs\n", 1), "plan.md": "a\u200bb\n"}, "spec.yaml", nil},
		{"tests in a spec", map[string]string{"spec.yaml": ignoreHead + "tests:\n  - {name: a, render: planner, parameters: {question: \"a\u200bb\"}} # pex:ignore PEX077 as users paste it\n"}, "spec.yaml", nil},
		{"a file of tests", map[string]string{"spec.yaml": ignoreHead, "tests.yaml": "apiVersion: pex/v1\nkind: Tests\ntests:\n  - {name: a, render: planner, parameters: {question: \"a\u200bb\"}} # pex:ignore PEX077 as users paste it\n  - {name: b, render: planner} # pex:ignore PEX077 nothing\n"}, "tests.yaml", []string{"tests.yaml:5 PEX083"}},
		{"a suite", map[string]string{"spec.yaml": ignoreHead, "suite.yaml": "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: s}\nspec: spec.yaml\ndataset: {rows: [{id: a, question: \"a\u200bb\"}]} # pex:ignore PEX077 as users paste it\nchecks: [output contains \"a\"]\n"}, "suite.yaml", nil},
		{"prices", map[string]string{"prices.yaml": "apiVersion: pex/v1\nkind: Prices # pex:ignore PEX077 nothing\nprices: [{provider: openai, models: [m], input: 1, output: 1}]\n"}, "prices.yaml", []string{"prices.yaml:2 PEX083"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			laid(t, c.files)
			_, found := dsl.Vet(c.vet, vetOptions())
			if diff := cmp.Diff(append([]string{}, c.want...), inShort(found)); diff != "" {
				t.Errorf("%s\n%s", diff, found)
			}
		})
	}
}

// Without all analyzers, unused ignore comments are not reported, and ignored
// warnings do not go to programs.
func TestUnusedIgnoresNeedAllAnalyzers(t *testing.T) {
	laid(t, map[string]string{"spec.yaml": ignoreHead + "tools:\n  write_file: {root: .} # pex:ignore PEX073, PEX074 drafts\n"})
	asked := vetOptions()
	_, found := dsl.Vet("spec.yaml", asked)
	if diff := cmp.Diff([]string{"spec.yaml:6 PEX083"}, inShort(found)); diff != "" {
		t.Error(diff)
	}
	for name, change := range map[string]func(*dsl.Options){
		"without analyzers": func(o *dsl.Options) { o.Analyzers = nil },
		"with an override":  func(o *dsl.Options) { o.Set = []string{"limits.max_steps=3"} },
		"with a variable":   func(o *dsl.Options) { o.Environ = []string{"PEX_SET_LIMITS__MAX_STEPS=3"} },
	} {
		o := vetOptions()
		change(&o)
		if _, found := dsl.Vet("spec.yaml", o); len(found) > 0 {
			t.Errorf("%s:\n%s", name, found)
		}
	}
	p, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog, Checks: checks})
	if p == nil || len(p.Warnings) > 0 || len(found) > 0 {
		t.Errorf("the program warns: %v\n%s", p, found)
	}
}

func TestVetReportsIgnoredWarnings(t *testing.T) {
	laid(t, map[string]string{"spec.yaml": ignoreHead + "tools:\n  write_file: {root: .} # pex:ignore PEX073: drafts only\n"})
	var got []diag.Ignored
	o := vetOptions()
	o.Ignored = func(i diag.Ignored) { got = append(got, i) }
	dsl.Vet("spec.yaml", o)
	if len(got) != 1 || got[0].Reason != "drafts only" || got[0].Diagnostic.Code != diag.UnapprovedTool || got[0].Diagnostic.Hint == "" {
		t.Errorf("got %+v", got)
	}
}

// Comments in foreign files do not suppress warnings of the project.
func TestForeignFilesIgnoreNothing(t *testing.T) {
	laid(t, map[string]string{
		"shared/lib.yaml":    "apiVersion: pex/v1\nkind: Library\ntools:\n  write_file: {root: .} # pex:ignore PEX073 trust me\n",
		"project/spec.yaml":  ignoreHead + "include: [../shared/lib.yaml]\n",
		"project/pex.lock":   "{\"version\": 1, \"servers\": []}\n",
		"project/.gitignore": "",
	})
	o := vetOptions()
	o.AllowPaths = []string{"shared"}
	_, found := dsl.Vet("project/spec.yaml", o)
	if diff := cmp.Diff([]string{"shared/lib.yaml:4 PEX073"}, inShort(found)); diff != "" {
		t.Errorf("%s\n%s", diff, found)
	}
}

func TestFormatKeepsIgnoreComments(t *testing.T) {
	cases := map[string]string{
		"at the end of a line":              ignoreHead + "tools:\n    write_file:   {root: .}   # pex:ignore PEX073 drafts\n    clock: {}\n",
		"before a line":                     ignoreHead + "tools:\n  # pex:ignore PEX073 drafts\n  write_file: {root: .}\n",
		"before keys that move":             "tools:\n  write_file: {root: .} # pex:ignore PEX073 drafts\nllms: {main: {provider: scripted}}\nkind: Agent\nmetadata: {name: demo}\napiVersion: pex/v1\n",
		"a comment that moves":              "planner:\n  # pex:ignore PEX033 theirs\n  planner_prompt: |\n    ${parameter.x}\nllms: {main: {provider: scripted}}\nkind: Agent\nmetadata: {name: demo}\napiVersion: pex/v1\n",
		"for the file":                      "# pex:ignore-file PEX073 drafts\n" + ignoreHead + "tools: {write_file: {root: .}}\n",
		"for the file, on a key that moves": "# pex:ignore-file PEX073 drafts\nkind: Agent\napiVersion: pex/v1\nmetadata: {name: demo}\nllms: {main: {provider: scripted}}\ntools: {write_file: {root: .}}\n",
	}
	for name, spec := range cases {
		t.Run(name, func(t *testing.T) {
			out, found := dsl.Format([]byte(spec))
			if len(found) > 0 {
				t.Fatal(found)
			}
			for _, text := range []string{spec, string(out)} {
				laid(t, map[string]string{"spec.yaml": text})
				if _, found := dsl.Vet("spec.yaml", vetOptions()); len(found) > 0 {
					t.Errorf("%s\nof\n%s", found, text)
				}
			}
		})
	}
}

func FuzzIgnoreComments(f *testing.F) {
	f.Add("tools:\n  write_file: {root: .} # pex:ignore PEX073 drafts\n")
	f.Add("# pex:ignore-file PEX073,PEX074 x\n\"# pex:ignore\": |\n  # pex:ignore PEX077\n")
	f.Add("# pex:ignore PEX073 x")
	f.Add("\xef\xbb\xbf#pex:ignore , : PEX073, \u200b\r\na: 'b # pex:ignore PEX001 c\n  d'\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "spec.yaml")
		o := vetOptions()
		o.Read = func(string) ([]byte, error) { return []byte(text), nil }
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, found := dsl.Vet(path, o)
		for _, d := range found {
			if d.Severity == diag.Error && (d.Code == diag.BadIgnore || d.Code == diag.UnusedIgnore) {
				t.Errorf("a comment stops a run: %s", d)
			}
		}
	})
}
