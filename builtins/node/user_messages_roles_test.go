package node_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// sayAt posts a message during the request at a path.
type sayAt struct {
	model.Model
	path  string
	inbox *runtime.Inbox
	paths []string
	log   map[string]string

	interrupt bool
}

const said = "Note: use the figures of 2025."

func (m *sayAt) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	path := strings.TrimPrefix(req.Key, "r/")
	m.paths = append(m.paths, path)
	m.log[path] = text(req)
	if path == m.path {
		msg := runtime.NewMessage("m", said, engine.Actor{User: "kim"})
		msg.Interrupt = m.interrupt
		if err := m.inbox.Post(msg).Wait(ctx); err != nil {
			return nil, err
		}
	}
	return m.Model.Generate(ctx, req, stream)
}

// say runs a program and posts a message during the request at a path.
func say(t *testing.T, p *engine.Program, m model.Model, path string) (*engine.Result, *sayAt) {
	t.Helper()
	s := &sayAt{Model: m, path: path, inbox: &runtime.Inbox{}, log: map[string]string{}}
	host := perHost(0)
	host.Models["main"] = s
	res := runtime.Run(t.Context(), p, perInput, host, runtime.Options{Inbox: s.inbox, Journal: &journal.Memory{RoundTrip: true}})
	if len(res.Messages) != 1 {
		t.Fatalf("%s: %s; requests at %q", res.StopReason.Code, res.Error, s.paths)
	}
	return res, s
}

// A message makes the adaptive strategy review the plan after the step.
func TestMessageTriggersAReview(t *testing.T) {
	_, m := say(t, talkProgram(t, "adaptive"), perModel{3}, "step.s1/turn.1/model")
	want := []string{
		"plan.1/model", "step.s1/turn.1/model", "step.s1/turn.2/model", "reflect.1/model",
		"step.s2/turn.1/model", "step.s2/turn.2/model", "step.s3/turn.1/model", "step.s3/turn.2/model", "reflect.2/model",
	}
	if !slices.Equal(m.paths, want) {
		t.Errorf("requests at\n%q, want\n%q", m.paths, want)
	}
}

// The last call of a run that a limit stops is not repeated: its reserve is for one call.
func TestMessageDuringTheLastCallOfAStoppedRun(t *testing.T) {
	p := talkProgram(t, "none")
	p.Limits.MaxSteps = 1
	res, m := say(t, p, perModel{2}, "final.1/model")
	if res.Status != stop.RunStopped || res.Messages[0].Seen || res.Response == "" || m.paths[len(m.paths)-1] != "final.1/model" {
		t.Errorf("%s %q, %+v, requests at %q", res.Status, res.Response, res.Messages, m.paths)
	}
	if res, _ = say(t, p, perModel{2}, "step.s1/turn.1/model"); !res.Messages[0].Seen {
		t.Errorf("%+v", res.Messages)
	}
}

// An executor whose report is the answer considers a message that arrives during its last
// reply.
func TestMessageToAnExecutorAlone(t *testing.T) {
	for _, path := range []string{"step.executor/turn.1/model", "step.executor/turn.2/model"} {
		p := talkProgram(t, "none")
		x := p.Nodes["executor"]
		p.Nodes = map[string]engine.Node{"executor": x}
		p.Graph = &graph.Graph[engine.Condition]{Start: "executor", Nodes: []graph.Node{{ID: "executor", Type: "executor"}}}
		res, m := say(t, p, perModel{1}, path)
		last := m.paths[len(m.paths)-1]
		if res.Status != stop.RunCompleted || !res.Messages[0].Seen || last != map[bool]string{true: "step.executor/turn.2/model", false: "step.executor/turn.3/model"}[strings.Contains(path, "turn.1")] {
			t.Errorf("%s: %s, requests at %q", path, res.Status, m.paths)
		}
		if strings.Count(m.log[last], said) != 1 {
			t.Errorf("%s: the last request is\n%s", path, m.log[last])
		}
	}
}

// Compaction drops turns, but not the messages in them.
func TestCompactionKeepsMessages(t *testing.T) {
	for name, c := range map[string]engine.Compaction{
		"window":    {SlidingWindow: &engine.Window{When: over(0), Keep: 1}},
		"summarize": {Summarize: &engine.Summarization{LLM: "main", When: over(900), Keep: 2}},
	} {
		p := perProgram(t)
		p.Memory.Compaction = c
		_, m := say(t, p, talker(1, 12), "step.s1/turn.2/model")
		for turn, path := range m.paths {
			if n := strings.Count(m.log[path], said); strings.HasPrefix(path, "step.s1/turn.") && strings.HasSuffix(path, "/model") && n != map[bool]int{true: 1}[turn > 2] {
				t.Errorf("%s: the request at %s has the message %d times", name, path, n)
			}
		}
		if len(m.paths) < 13 {
			t.Errorf("%s: requests at %q", name, m.paths)
		}
	}
}

// A template places the messages itself, and then they are nowhere else.
func TestTemplatePlacesTheMessages(t *testing.T) {
	c := node.Reflector.Config().(*node.ReflectorConfig)
	c.LLM.Name = "main"
	c.ReflectPromptTemplate.Text = "News: ${parameters.user_messages}\n${parameters.plan_progress}"
	c.ReflectPromptTemplate = compiledPrompt(c.ReflectPromptTemplate)
	n, err := node.Reflector.Build(c, engine.NodeSettings{ID: "reflector"})
	if err != nil {
		t.Fatal(err)
	}
	p := perProgram(t)
	p.Nodes["reflector"] = n
	_, m := say(t, p, perModel{2}, "step.s1/turn.1/model")
	for path, want := range map[string]string{"reflect.1/model": "News: - " + said, "reflect.2/model": "News: - " + said} {
		if got := m.log[path]; !strings.Contains(got, want) || strings.Count(got, said) != 1 {
			t.Errorf("the request at %s is\n%s", path, got)
		}
	}
}
