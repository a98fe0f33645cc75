package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
)

// talkProgram returns the program of a strategy, with a finalizer where it has one.
func talkProgram(tb testing.TB, strategy string) *engine.Program {
	p := strategyProgram(tb, strategy)
	f := node.Finalizer.Config().(*node.FinalizerConfig)
	f.LLM.Name, f.FinalizerPromptTemplate = "main", compiledPrompt(f.FinalizerPromptTemplate)
	n, err := node.Finalizer.Build(f, engine.NodeSettings{ID: "finalizer"})
	if err != nil {
		tb.Fatal(err)
	}
	p.Nodes["finalizer"] = n
	if !slices.ContainsFunc(p.Graph.Nodes, func(n graph.Node) bool { return n.ID == "finalizer" }) {
		p.Graph.Nodes = append(p.Graph.Nodes, graph.Node{ID: "finalizer", Type: "finalizer"})
	}
	return p
}

// requestLog records the text of each request by path. A call that a message interrupted may
// still be on its way when the next one starts.
type requestLog struct {
	perModel

	mu       sync.Mutex
	requests map[string]string
}

// all returns the requests so far.
func (l *requestLog) all() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.requests)
}

func (l *requestLog) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString(m.Text.String() + "\n")
	}
	l.mu.Lock()
	l.requests[strings.TrimPrefix(req.Key, "r/")] = b.String()
	l.mu.Unlock()
	return l.perModel.Generate(ctx, req, stream)
}

// poster posts messages when the journal has a number of records.
type poster struct {
	journal.Memory
	inbox *runtime.Inbox
	plan  map[int][]runtime.Message // by number of records
}

func (p *poster) Append(recs []journal.Record) (*journal.Ticket, error) {
	before := len(p.Records)
	t, err := p.Memory.Append(recs)
	for n := before + 1; n <= len(p.Records); n++ {
		for _, m := range p.plan[n] {
			p.inbox.Post(m)
		}
	}
	return t, err
}

// talk is a run with messages that arrive when its journal has certain numbers of records.
type talk struct {
	t       *testing.T
	program *engine.Program
	steps   int
	all     []runtime.Message
	plan    map[int][]runtime.Message
}

func newTalk(t *testing.T, strategy string, seed uint64) *talk {
	r := rand.New(rand.NewPCG(seed, 52))
	k := &talk{t: t, program: talkProgram(t, strategy), steps: 1 + r.IntN(4), plan: map[int][]runtime.Message{}}
	for n := range 1 + r.IntN(5) {
		m := runtime.NewMessage(fmt.Sprint("m", n), fmt.Sprintf("Note <%d>: use the figures of %d.", n, 2000+r.IntN(30)), engine.Actor{User: "kim"})
		m.Interrupt = r.IntN(2) == 0
		at := 1 + r.IntN(8*k.steps)
		k.all, k.plan[at] = append(k.all, m), append(k.plan[at], m)
	}
	return k
}

// session executes the run on a journal, with messages that arrive at its start.
func (k *talk) session(j journal.Journal, inbox *runtime.Inbox) (*engine.Result, *requestLog) {
	l := &requestLog{perModel: perModel{k.steps}, requests: map[string]string{}}
	host := perHost(k.steps)
	host.Models["main"] = l
	return runtime.Run(k.t.Context(), k.program, perInput, host, runtime.Options{Journal: j, Virtual: true, Inbox: inbox}), l
}

// check compares the requests of a session with the journal: each contains the messages
// that arrived before it once, and no others.
func (k *talk) check(label string, recs []journal.Record, res *engine.Result, l *requestLog) {
	k.t.Helper()
	if res.Status != stop.RunCompleted {
		k.t.Fatalf("%s: %s: %s", label, res.StopReason.Code, res.StopReason.Message)
	}
	arrived, requests := map[string]bool{}, l.all()
	for i := range recs {
		if rec := &recs[i]; rec.Kind == journal.Said {
			arrived[kernel.MessageOf(rec).Text] = true
		} else if text, performed := requests[rec.Path]; performed && rec.Kind == journal.Intent {
			for _, m := range k.all {
				if n, want := strings.Count(text, m.Text), map[bool]int{true: 1}[arrived[m.Text]]; n != want {
					k.t.Fatalf("%s: the request at %s has %q %d times, want %d", label, rec.Path, m.Text, n, want)
				}
			}
		}
	}
	for _, m := range res.Messages {
		if !m.Seen || m.By.User != "kim" {
			k.t.Errorf("%s: %+v", label, m)
		}
	}
	host := perHost(k.steps)
	host.Models = nil
	again := runtime.Run(k.t.Context(), k.program, perInput, host, runtime.Options{Journal: journal.Frozen(recs), Virtual: true, Follow: &runtime.Tail{}})
	one, _ := json.Marshal(res)
	if two, _ := json.Marshal(again); string(one) != string(two) {
		k.t.Fatalf("%s: a replay gives\n%s\nwant\n%s", label, two, one)
	}
}

// replay uses the records as a recording: for a replay, which must be the same run, and for
// forks at each request, which have the messages before it.
func (k *talk) replay(recs []journal.Record, want *engine.Result) {
	k.t.Helper()
	before := 0
	for i := range recs {
		rec := &recs[i]
		if rec.Kind == journal.Said {
			before++
		}
		if rec.Kind != journal.Intent && rec.Kind != journal.End {
			continue
		}
		o := replay.Options{Until: rec.Seq}
		if rec.Kind == journal.End {
			o.Until = 0
		}
		l := &requestLog{perModel: perModel{k.steps}, requests: map[string]string{}}
		host, j := perHost(k.steps), &journal.Memory{RoundTrip: true}
		host.Models["main"] = l
		recorded := replay.New(recs, o)
		res := runtime.Run(k.t.Context(), k.program, perInput, host, runtime.Options{Journal: j, Virtual: true, Recorded: recorded})
		k.check(fmt.Sprint("fork at ", rec.Path), j.Records, res, l)
		if len(res.Messages) != before {
			k.t.Fatalf("the fork at %s has %d messages, %d were before it", rec.Path, len(res.Messages), before)
		}
		if o.Until == 0 && (len(l.all()) > 0 || res.Response != want.Response || len(recorded.Unused()) > 0) {
			k.t.Fatalf("the replay has %d requests", len(l.all()))
		}
	}
}

// Runs with messages at random moments are killed after every record; a client sends again
// what was not acknowledged, to the next session or to the journal. Each request has each
// message that arrived before it once, and a replay has the same requests.
func TestMessagesReachEveryConversationOnce(t *testing.T) {
	for n, strategy := range []string{"per_step", "batch", "adaptive", "none"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(5) {
				k := newTalk(t, strategy, seed+uint64(5*n))
				whole := &poster{Memory: journal.Memory{RoundTrip: true}, inbox: &runtime.Inbox{}, plan: k.plan}
				res, l := k.session(whole, whole.inbox)
				k.check(fmt.Sprint("seed ", seed), whole.Records, res, l)
				k.replay(whole.Records, res)
				for cut := 1; cut < len(whole.Records); cut++ {
					for _, offline := range []bool{false, true} {
						label := fmt.Sprintf("seed %d, cut %d of %d, offline %v", seed, cut, len(whole.Records), offline)
						j, inbox := &journal.Memory{RoundTrip: true, Records: slices.Clone(whole.Records[:cut])}, &runtime.Inbox{}
						for _, m := range k.all {
							if offline {
								if err := runtime.AppendMessage(j, m, time.Unix(9, 0)); err != nil {
									t.Fatal(err)
								}
							}
							inbox.Post(m)
						}
						res, l := k.session(j, inbox)
						k.check(label, j.Records, res, l)
						if cut%5 == 0 {
							k.replay(j.Records, res)
						}
						if len(res.Messages) != len(k.all) {
							t.Fatalf("%s: the result has %d of %d messages", label, len(res.Messages), len(k.all))
						}
					}
				}
			}
		})
	}
}

// A message that arrives while the last reply is under way makes the model answer again.
func TestMessageDuringTheLastReplyIsConsidered(t *testing.T) {
	for _, strategy := range []string{"per_step", "none"} {
		k := newTalk(t, strategy, 1)
		plain := &journal.Memory{RoundTrip: true}
		k.all, k.plan = k.all[:1], nil
		k.all[0].Interrupt = false
		k.session(plain, nil)
		last := 0
		for i, rec := range plain.Records {
			if rec.Kind == journal.Intent {
				last = i + 1
			}
		}
		j := &poster{Memory: journal.Memory{RoundTrip: true}, inbox: &runtime.Inbox{}, plan: map[int][]runtime.Message{last: k.all}}
		res, l := k.session(j, j.inbox)
		k.check(strategy, j.Records, res, l)
		if path := plain.Records[last-1].Path + ".2"; !strings.Contains(l.all()[path], "before your reply arrived") {
			t.Errorf("%s: no request at %s: %q", strategy, path, l.all()[path])
		}
	}
}

// withMessages adds messages to a view.
func withMessages(v engine.View) engine.View {
	v.State.UserMessages = []engine.UserMessage{{ID: "a", Text: "Use the figures of 2025."}, {ID: "b", Text: "Skip step 3.\nIt is done."}}
	return v
}

func TestPromptsContainTheMessages(t *testing.T) {
	for role, v := range map[string]engine.View{
		"planner":   engine.ViewOf(promptProgram(t, "list"), perInput, &engine.Result{}, nil, time.Time{}),
		"reflector": midway(promptProgram(t, "list")), "executor": midway(promptProgram(t, "list")), "finalizer": midway(promptProgram(t, "list")),
	} {
		v = withMessages(v)
		goldentest.File(t, "prompt/"+role+"_with_messages.md", markdown(v.Program.Nodes[role].(engine.Prompter).Prompt(v)))
	}
}
