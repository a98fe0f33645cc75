package lsp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRenameKnowsColumnsOfFiles: a column that sets a parameter by its bare name
// prevents renaming the parameter, wherever the column is.
func TestRenameKnowsColumnsOfFiles(t *testing.T) {
	const head = "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: s}\nchecks: []\n"
	const said = "the dataset of suite.yaml sets topic from a column of that name, in "
	cases := []struct {
		name, suite, file, rows, want string // want "" means that it is renamed
	}{
		{"CSV", "spec: helper.yaml\ndataset: cases.csv\n", "cases.csv", "id,topic\n1,x\n", said + "cases.csv"},
		{"CSV with a mark of its encoding", "spec: helper.yaml\ndataset: cases.csv\n", "cases.csv", "\ufefftopic,id\nx,1\n", said + "cases.csv"},
		{"JSON Lines", "spec: helper.yaml\ndataset: {file: data/cases.jsonl}\n", "data/cases.jsonl", "{\"id\": 1}\n\n{\"id\": 2, \"topic\": null}\n", said + "data/cases.jsonl"},
		{"YAML", "spec: helper.yaml\ndataset: cases.yaml\n", "cases.yaml", "- id: a\n- {id: b, topic: c}\n", said + "cases.yaml"},
		{"a format that is said", "spec: helper.yaml\ndataset: {file: cases.txt, format: jsonl}\n", "cases.txt", "{\"topic\": 1}\n", said + "cases.txt"},
		{"of a variant", "spec: other.yaml\nvariants: {a: {spec: helper.yaml}}\ndataset: cases.csv\n", "cases.csv", "topic\nx\n", said + "cases.csv"},
		{"parameters that are written", "spec: helper.yaml\ndataset: {file: cases.csv, parameters: {topic: \"${case.topic}\"}}\n", "cases.csv", "id,topic\n1,x\n", ""},
		{"another suite's", "spec: other.yaml\ndataset: cases.csv\n", "cases.csv", "id,topic\n1,x\n", ""},
		{"other columns", "spec: helper.yaml\ndataset: cases.csv\n", "cases.csv", "id,topics\n1,topic\n", ""},
		{"broken", "spec: helper.yaml\ndataset: cases.jsonl\n", "cases.jsonl", "{\"id\": 1,\ntopic", ""},
		{"missing", "spec: helper.yaml\ndataset: none.csv\n", "cases.csv", "topic\n", ""},
		{"outside", "spec: helper.yaml\ndataset: ../cases.csv\n", "cases.csv", "topic\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"pex.lock": "", "suite.yaml": head + c.suite, c.file: c.rows, "other.yaml": helper}
			cl, uri, p := opened(t, files, "helper.yaml", strings.Replace(helper, "{topic", "{to‸pic", 1))
			if c.want != "" {
				cl.refuses(p, "subject", c.want)
			} else if len(cl.renames(p, "subject")[uri]) != 2 {
				t.Error("it is not renamed")
			}
		})
	}
}

// TestRenameUpdatesOverridesAndCases: paths of set contain names, and a case in
// its own folder needs no header.
func TestRenameUpdatesOverridesAndCases(t *testing.T) {
	files := map[string]string{
		"pex.lock":    "",
		"helper.yaml": helper,
		"tests.yaml":  "apiVersion: pex/v1\nkind: Tests\nspec: helper.yaml\nset: {\"llms.main.seed\": 1, planner.llm: main}\ntests:\n- {name: main, set: {parameters.topic.default: main}, render: planner}\n",
		"suite.yaml":  "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: main}\nspec: helper.yaml\ndataset: {rows: [{id: a}]}\nvariants:\n  main: {set: [llms.main.seed=1, \"planner.llm=main\", parameters.topic.default=main]}\nchecks: []\n",
		"case.yaml":   "spec: helper.yaml\nset: {llms.main.seed: 2}\nparameters: {topic: main}\nrender: planner\n",
	}
	cases := []struct {
		name, text string
		want       []string
	}{
		{"an llm", strings.Replace(helper, "{main", "{ma‸in", 1), []string{
			"case.yaml 1 main", "helper.yaml 3 main", "suite.yaml 6 main", "suite.yaml 6 main", "tests.yaml 3 main", "tests.yaml 3 main",
		}},
		{"a parameter", strings.Replace(helper, "{topic", "{to‸pic", 1), []string{
			"case.yaml 2 topic", "helper.yaml 4 topic", "helper.yaml 5 topic", "suite.yaml 6 topic", "tests.yaml 5 topic",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cl, _, p := opened(t, files, "helper.yaml", c.text)
			if d := cmp.Diff(c.want, touched(files, cl.renames(p, "subject"))); d != "" {
				t.Error(d)
			}
		})
	}
}
