package node_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// stuck is a model whose call at a path ends only with its context. A message with an
// interrupt arrives during it.
type stuck struct {
	sayAt

	ended chan struct{}
}

func (m *stuck) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	path := strings.TrimPrefix(req.Key, "r/")
	m.paths = append(m.paths, path)
	m.log[path] = text(req)
	if path != m.path {
		return m.Model.Generate(ctx, req, stream)
	}
	msg := runtime.NewMessage("m", said, engine.Actor{User: "kim"})
	msg.Interrupt = true
	m.inbox.Post(msg)
	<-ctx.Done()
	close(m.ended)
	return nil, ctx.Err()
}

// eventLog is a sink that collects events.
type eventLog []engine.Event

func (l *eventLog) Send(e engine.Event) { *l = append(*l, e) }

// A message with an interrupt ends the call under way in every role, and the same
// conversation is sent again with it.
func TestMessageInterruptsTheCallUnderWay(t *testing.T) {
	for _, tt := range []struct{ strategy, path string }{
		{"per_step", "plan.1/model"},
		{"per_step", "step.s1/turn.1/model"},
		{"per_step", "step.s1/turn.2/model"},
		{"per_step", "reflect.1/model"},
		{"none", "final.1/model"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			p := talkProgram(t, tt.strategy)
			m := &stuck{sayAt{Model: perModel{2}, path: tt.path, inbox: &runtime.Inbox{}, log: map[string]string{}}, make(chan struct{})}
			host, events := perHost(0), &eventLog{}
			host.Models["main"] = m
			host.Sinks = []engine.Sink{events}
			j := &journal.Memory{RoundTrip: true}
			res := runtime.Run(t.Context(), p, perInput, host, runtime.Options{Inbox: m.inbox, Journal: j})
			<-m.ended
			i := slices.Index(m.paths, tt.path)
			if res.Status != stop.RunCompleted || m.paths[i+1] != tt.path+".2" || !res.Messages[0].Seen || !res.Messages[0].Interrupt {
				t.Fatalf("%s, %+v, requests at %q", res.Status, res.Messages, m.paths)
			}
			if before, after := m.log[tt.path], m.log[tt.path+".2"]; strings.Contains(before, said) || strings.Count(after, said) != 1 {
				t.Errorf("the request was\n%s\nand is\n%s", before, after)
			}
			var statuses []string
			for _, e := range *events {
				if e.Type == engine.ModelCompleted && strings.HasPrefix(e.Path, tt.path) {
					statuses = append(statuses, e.Status)
				}
			}
			if len(statuses) < 2 || statuses[0] != "interrupted" || statuses[1] == "interrupted" {
				t.Errorf("calls ended with %q", statuses)
			}
			for _, rec := range j.Records {
				if rec.Kind == journal.Result && rec.Path == tt.path {
					t.Error("the journal has a result of the interrupted call")
				}
			}
		})
	}
}

// The last call of a run that a limit stops is not interrupted.
func TestMessageDoesNotInterruptTheLastCallOfAStoppedRun(t *testing.T) {
	p := talkProgram(t, "none")
	p.Limits.MaxSteps = 1
	m := &sayAt{Model: perModel{2}, path: "final.1/model", inbox: &runtime.Inbox{}, log: map[string]string{}, interrupt: true}
	host := perHost(0)
	host.Models["main"] = m
	res := runtime.Run(t.Context(), p, perInput, host, runtime.Options{Inbox: m.inbox, Journal: &journal.Memory{RoundTrip: true}})
	if res.Status != stop.RunStopped || res.Response == "" || m.paths[len(m.paths)-1] != m.path {
		t.Errorf("%s %q, requests at %q", res.Status, res.Response, m.paths)
	}
}
