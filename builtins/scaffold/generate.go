package scaffold

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
)

//go:embed templates
var templates embed.FS

// File is a file of a project.
type File struct {
	Path    string // relative to the project, with slashes
	Content []byte
}

// project is the data of the templates.
type project struct {
	Answers
	Provider Provider
	Tools    []Tool
	Demo     []task
	Cases    []task
	Data     bool
	Calls    []call   // all calls of Demo, in order
	Switch   []string // environment variables that the real model needs
}

// Generate returns the files of a project in reading order, without golden files (`pexctl test --update` writes them). It
// fails if an answer is invalid.
func Generate(a Answers) ([]File, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	p := project{Answers: a, Tools: a.chosen(), Demo: a.demo(), Cases: a.cases()}
	p.Provider, _ = providerOf(a.Provider)
	p.Switch = a.Variables()
	for _, t := range p.Demo {
		p.Calls = append(p.Calls, t.Calls...)
	}
	for _, t := range p.Tools {
		p.Data = p.Data || t.Data
	}
	var out []File
	for _, name := range p.files() {
		content, err := p.render(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, File{name, content})
	}
	return out, nil
}

// Answer is the scripted reply that ends the sample run.
func (p project) Answer() string { return answer(p.Demo...) }

// PlanOf is the scripted plan for a case of the suite.
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

// render returns the content of a file. Its template is the path with / replaced by _, without a leading dot.
func (p project) render(name string) ([]byte, error) {
	if name == "evals/cases.csv" {
		return p.dataset()
	}
	file := "templates/" + strings.TrimPrefix(strings.ReplaceAll(name, "/", "_"), ".")
	t, err := template.New(path.Base(file)).Funcs(functions).ParseFS(templates, file)
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

// functions are the functions of the templates.
var functions = template.FuncMap{
	"quote": jsonvalue.Quote, "single": single, "plain": plain, "plan": plan, "answer": answer, "verbatim": escapeRefs,
	"join": strings.Join, "next": func(i int) int { return i + 1 }, "from": func(i int, l []task) []task { return l[i:] },
	"last": func(t task) call { return t.Calls[len(t.Calls)-1] }, "before": func(i int, t task) call { return t.Calls[i-1] },
}

// single formats a string as a single-quoted YAML scalar.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// simple matches text that needs no quotes in YAML.
var simple = text.Regexp(`^[A-Za-z]([A-Za-z0-9 ._/%+()-]|:[A-Za-z0-9/])*[A-Za-z0-9.%]$`)

// plain formats a string as a YAML scalar, quoted if necessary.
func plain(s string) string {
	if simple().MatchString(s) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off"}, strings.ToLower(s)) {
		return s
	}
	return jsonvalue.Quote(s)
}

// plan formats a model reply that is a plan.
func plan(tasks []task) string {
	var goals []string
	for _, t := range tasks {
		goals = append(goals, jsonvalue.Quote(t.Goal))
	}
	return single(`{"steps": [` + strings.Join(goals, ", ") + `], "result": ""}`)
}

// answer formats a model reply that ends the run: one line per task.
func answer(tasks ...task) string {
	var found []string
	for _, t := range tasks {
		found = append(found, t.Finding)
	}
	return single(`{"steps": [], "result": ` + jsonvalue.Quote(strings.Join(found, "\n")) + `}`)
}

// escapeRefs escapes references, so that a prompt template renders the text unchanged.
func escapeRefs(s string) string {
	return strings.NewReplacer("${", "$${", "$<", "$$<").Replace(s)
}
