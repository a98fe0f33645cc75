package starter

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/pexctl/pex/engine/jsonvalue"
)

//go:embed templates
var templates embed.FS

// File is one file of a project.
type File struct {
	Path    string // below the project, with slashes
	Content []byte
}

// project is what templates fill in.
type project struct {
	Answers
	Provider Provider
	Tools    []Tool
	Demo     []task
	Cases    []task
	Data     bool
	Calls    []call   // all of the demo, in order
	Switch   []string // environment variables of the real model
}

// Make gives the files of a project, each with its text, in the order in which
// a person would read them. Its golden files are missing: they are what `pexctl
// test --update` writes. An error says which answer cannot be taken.
func Make(a Answers) ([]File, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	p := project{Answers: a, Tools: a.chosen(), Demo: a.demo(), Cases: a.cases()}
	p.Provider, _ = providerOf(a.Provider)
	p.Switch = p.Provider.variables()
	for _, t := range p.Demo {
		p.Calls = append(p.Calls, t.Calls...)
	}
	for _, t := range p.Tools {
		p.Data = p.Data || t.Data
	}
	var out []File
	for _, name := range p.files() {
		content, err := p.fill(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, File{name, content})
	}
	return out, nil
}

// Answer is the script's reply to the last report of the demo.
func (p project) Answer() string { return said(p.Demo...) }

// PlanOf is the script's plan for a case of the suite.
func (p project) PlanOf(t task) string { return plan([]task{t}) }

// files are the paths of the project's files.
func (p project) files() []string {
	out := []string{
		"README.md", "spec.yaml", "models.yaml", "replies.yaml", "prompts/planner.md", "prompts/executor.md",
		"tests/prompts.yaml", "tests/answers.yaml", "suite.yaml", "evals/cases.csv", "evals/replies.yaml", ".gitignore",
	}
	if p.Data {
		out = append(out, "data/sales.csv", "data/notes.md")
	}
	return out
}

// fill is the content of a file; a template is called like its file, in one
// folder, without a dot before it.
func (p project) fill(name string) ([]byte, error) {
	if name == "evals/cases.csv" {
		return p.dataset()
	}
	file := "templates/" + strings.TrimPrefix(strings.ReplaceAll(name, "/", "_"), ".")
	t, err := template.New(path.Base(file)).Funcs(words).ParseFS(templates, file)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}

func (p project) dataset() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"id", "question", "answer", "tool"}}
	for _, t := range p.Cases {
		rows = append(rows, []string{t.ID, t.Ask, t.Answer, t.Calls[0].Tool})
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

// words are what templates call.
var words = template.FuncMap{
	"quote": jsonvalue.Quote, "single": single, "plain": plain, "plan": plan, "said": said, "verbatim": verbatim,
	"join": strings.Join, "next": func(i int) int { return i + 1 }, "from": func(i int, l []task) []task { return l[i:] },
	"last": func(t task) call { return t.Calls[len(t.Calls)-1] }, "before": func(i int, t task) call { return t.Calls[i-1] },
}

// single writes a text as YAML in single quotes.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// simple is text that YAML reads as that text.
var simple = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9 ._/%+()-]|:[A-Za-z0-9])*[A-Za-z0-9.%]$`)

// plain writes a text as YAML, in quotes where it needs them.
func plain(s string) string {
	if simple.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off"}, strings.ToLower(s)) {
		return s
	}
	return jsonvalue.Quote(s)
}

// plan is a model's reply that is a plan.
func plan(tasks []task) string {
	var goals []string
	for _, t := range tasks {
		goals = append(goals, jsonvalue.Quote(t.Goal))
	}
	return single(`{"steps": [` + strings.Join(goals, ", ") + `], "result": ""}`)
}

// said is a model's reply that is the answer: what each task found, a line each.
func said(tasks ...task) string {
	var found []string
	for _, t := range tasks {
		found = append(found, t.Says)
	}
	return single(`{"steps": [], "result": ` + jsonvalue.Quote(strings.Join(found, "\n")) + `}`)
}

// verbatim writes a text into a template of the language, which leaves it as it is.
func verbatim(s string) string {
	return strings.NewReplacer("${", "$${", "$<", "$$<").Replace(s)
}
