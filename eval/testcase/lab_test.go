package testcase_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/eval/testcase"
	"github.com/pexctl/pex/eval/trial"
)

// agent is a node that does what the planner replies and answers with the results. The planner replies with lines:
// "call TOOL ARGS", "ask", or an answer.
type agent struct{ prompt string }

func (a *agent) Prompt(v engine.View) []model.Message { return a.Call(v).Messages }

func (a *agent) Call(v engine.View) model.Call {
	return model.Call{Role: "planner", LLM: "main", Messages: []model.Message{
		{Role: model.System, Text: model.Text{a.prompt}},
		{Role: model.User, Text: model.Text{v.State.Question}},
	}}
}

func (a *agent) Run(s engine.Scope) error {
	r, err := s.Model("model", a.Call(s.View()))
	if err != nil {
		return err
	}
	step := plan.Step{ID: "s1", Goal: "do it"}
	s.Record(engine.PlanAccepted{Steps: []plan.Step{step}, By: "a"})
	rec := plan.StepRecord{ID: "s1", Goal: step.Goal, Status: plan.OK, Attempts: 1}
	s.Record(engine.StepStarted{Step: step, Attempt: 1})
	answer := []string{}
	for i, line := range strings.Split(r.Text, "\n") {
		words := strings.SplitN(line, " ", 3)
		switch words[0] {
		case "call":
			call, _, err := s.Tool("tool."+strconv.Itoa(i), engine.Invocation{Tool: words[1], Args: json.RawMessage(words[2]), StepID: "s1"})
			if err != nil {
				return err
			}
			rec.ToolCalls = append(rec.ToolCalls, call)
			answer = append(answer, call.Text())
		case "ask":
			d, err := s.Ask("ask."+strconv.Itoa(i), interrupt.Question{Kind: interrupt.Human, Question: "well?"})
			if err != nil {
				return err
			}
			answer = append(answer, d.Text)
		default:
			answer = append(answer, line)
		}
	}
	rec.Result = strings.Join(answer, "\n")
	s.Record(engine.StepEnded{Record: rec})
	s.Record(engine.Answered{Answer: engine.Answer{Text: rec.Result}})
	return nil
}

// speaker is a model that always gives the same reply.
type speaker struct {
	text string
	err  error
}

func (m speaker) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	if m.err != nil {
		return nil, m.err
	}
	return &model.Reply{Text: m.text, Stop: model.EndTurn}, nil
}

// file is a tool that reads or writes one file of a folder, or returns the time.
type file struct {
	at    testcase.Place
	write tool.Effect // "" = reads
	live  bool
}

func (f file) Info() tool.Info {
	switch f.write {
	case tool.WriteEffect:
		return tool.Info{Name: "write", Effect: f.write}
	case tool.IdempotentEffect:
		return tool.Info{Name: "put", Effect: f.write}
	default:
	}
	return tool.Info{Name: "read", Description: "Reads.", Effect: tool.ReadEffect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (f file) Call(_ context.Context, c *tool.Call) (*tool.Output, error) {
	var args struct{ Path, Text string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, err
	}
	if f.at.Enter != nil {
		if err := f.at.Enter(filepath.Dir(filepath.Join(f.at.Dir, args.Path))); err != nil {
			return nil, err
		}
	}
	switch {
	case args.Path == "live":
		return &tool.Output{Text: fmt.Sprint("live: ", f.live)}, nil
	case args.Path == "now":
		return &tool.Output{Text: f.at.Now.Format("15:04:05")}, nil
	case args.Path == "dir":
		return &tool.Output{Text: "in " + f.at.Dir}, nil
	case f.write != "":
		return &tool.Output{Text: "written"}, os.WriteFile(filepath.Join(f.at.Dir, args.Path), []byte(args.Text), 0o600)
	}
	b, err := os.ReadFile(filepath.Join(f.at.Dir, args.Path))
	return &tool.Output{Text: string(b)}, err
}

// lab is a bench and a unit in a temporary folder.
type lab struct {
	bench   testcase.Bench
	unit    testcase.Unit
	root    string
	program *engine.Program
	agent   *agent
	own     model.Model // the spec's own model; nil = none
	live    model.Model
	tapes   map[string][]journal.Record // by content of the cassette file
}

func newLab(t testing.TB) *lab {
	t.Helper()
	root := t.TempDir()
	l := &lab{root: root, agent: &agent{"You plan."}, own: speaker{text: "done"}, tapes: map[string][]journal.Record{}}
	l.put(t, "spec/data.txt", "before")
	l.program = &engine.Program{
		Name: "p", Digest: "sha256:p", Nodes: map[string]engine.Node{"planner": l.agent},
		Graph:      &graph.Graph[engine.Condition]{Start: "planner", Nodes: []graph.Node{{ID: "planner", Type: "planner"}}},
		Models:     []engine.ModelSpec{{Name: "main", Provider: "some", Params: model.Params{Model: "m-1"}}},
		Parameters: []engine.Parameter{{Name: "question", Required: true}},
		Memory:     engine.MemorySettings{Backend: "none"},
	}
	l.bench = testcase.Bench{
		Host: func(_ *engine.Program, at testcase.Place) (engine.Host, error) { return l.host(at, l.own, false), nil },
		Live: func(_ *engine.Program, at testcase.Place, _ map[string]any) (engine.Host, error) {
			return l.host(at, l.live, true), nil
		},
		Script: func(config any, _ retry.Policy) (model.Model, error) {
			return speaker{text: config.(string)}, nil
		},
		Load:     l.load,
		Recorder: l.record,
		Secrets:  func(*engine.Program) *secret.Values { return secret.New(nil) },
		Checks:   trial.Checks{saysCheck},
	}
	tree, err := golden.Open(root, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	dir := filepath.Join(root, "spec")
	l.unit = testcase.Unit{Program: l.program, File: filepath.Join(dir, "spec.yaml"), Dir: dir, Root: root, Goldens: tree}
	return l
}

func (l *lab) host(at testcase.Place, m model.Model, live bool) engine.Host {
	h := engine.Host{Tools: []tool.Binding{{Tool: file{at, "", live}}, {Tool: file{at, tool.WriteEffect, live}}, {Tool: file{at, tool.IdempotentEffect, live}}}}
	if m != nil {
		h.Models = map[string]model.Model{"main": m}
	}
	return h
}

// run runs a case.
func (l *lab) run(t testing.TB, c testspec.Case) *testcase.Outcome {
	t.Helper()
	l.unit.Host = l.host(testcase.Place{Dir: l.unit.Dir, Root: l.root, Now: render.Epoch}, l.own, false)
	if c.Name == "" {
		c.Name = "case"
	}
	c.Spec, c.Dir = l.unit.File, l.unit.Dir
	c.Position = testspec.Position{File: "tests.yaml", Line: 3}
	if c.Parameters == nil {
		c.Parameters = map[string]any{"question": "why?"}
	}
	return testcase.Run(t.Context(), &l.bench, &l.unit, &c)
}

// path is a file below the root.
func (l *lab) path(name string) string { return filepath.Join(l.root, filepath.FromSlash(name)) }

func (l *lab) put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(l.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (l *lab) get(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(l.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// load returns the records that a cassette file names.
func (l *lab) load(path string) ([]journal.Record, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	recs, ok := l.tapes[string(b)]
	if !ok {
		return nil, fmt.Errorf("cassette %s: line 1 was changed", path)
	}
	return recs, nil
}

// tape is a journal whose Close writes a cassette.
type tape struct {
	journal.Memory
	lab  *lab
	path string
}

func (l *lab) record(_ journal.Journal, path string, _ *secret.Values) (testcase.Recorder, error) {
	return &tape{lab: l, path: path, Memory: journal.Memory{RoundTrip: true}}, nil
}

func (r *tape) Close() error {
	name := fmt.Sprint("tape ", len(r.lab.tapes))
	r.lab.tapes[name] = r.Records
	return os.WriteFile(r.path, []byte(name), 0o600)
}

// taped records a run with the spec's own model as the cassette of a case.
func (l *lab) taped(t testing.TB, name string) {
	t.Helper()
	l.live = l.own
	c := testspec.Case{Name: "case", Dir: l.unit.Dir, Parameters: map[string]any{"question": "why?"}, Run: &testspec.CaseRun{Cassette: l.path(name)}}
	if _, err := testcase.Record(t.Context(), &l.bench, &l.unit, &c); err != nil {
		t.Fatal(err)
	}
}

// saysCheck passes if the response contains a text.
var saysCheck = component.New("says", "", func() saysConfig { return saysConfig{} },
	func(c *saysConfig, s trial.CheckSettings) (trial.Check, error) { return &saysMark{c.Text, s.Name}, nil })

type saysConfig struct{ Text string }

type saysMark struct{ text, name string }

func (m *saysMark) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	if m.text == "break" {
		return trial.Mark{}, fs.ErrPermission
	}
	got := s.Result.Response + strings.Join(s.Trace.Prompts, " ")
	return trial.Mark{Pass: strings.Contains(got, m.text), Message: "the text is missing", Expected: m.text, Actual: got}, nil
}

func check(text string) testspec.Check {
	return testspec.Check{Type: "says", Name: "says " + text, Weight: 1, Config: &saysConfig{text}, Position: testspec.Position{File: "tests.yaml", Line: 9}}
}
