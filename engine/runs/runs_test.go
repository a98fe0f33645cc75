package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// node implements engine.Node with a function.
type node func(engine.Scope) error

func (n node) Run(s engine.Scope) error { return n(s) }

// fakeModel answers with the number of the call. The second call waits for gate, if it
// is not nil.
type fakeModel struct {
	mu    sync.Mutex
	calls int
	gate  chan struct{} // closed when the second call may be answered
	fails bool
}

func (m *fakeModel) Generate(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.mu.Lock()
	m.calls++
	n := m.calls
	m.mu.Unlock()
	if m.gate != nil && n == 2 {
		select {
		case <-m.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.fails {
		return nil, &model.Error{Kind: model.BadRequest, Message: "no"}
	}
	return &model.Reply{Text: fmt.Sprint("reply ", n)}, nil
}

// world is the environment of a test: a home, a node and a model.
type world struct {
	t     testing.TB
	dir   string
	node  node
	model *fakeModel
	spec  string // current content of the spec file; "" = unchanged

	restricts bool // an agent of the program restricts who approves

	connecting func() // called whenever a run is read; may be nil
}

func newWorld(t *testing.T, n node) *world {
	return &world{t: t, dir: t.TempDir(), node: n, model: &fakeModel{}}
}

// program returns a program whose source is its limit of steps.
func (w *world) program(source string, set ...string) (*engine.Program, error) {
	p := &engine.Program{
		Name: "agent", Digest: "sha256:" + source, Source: json.RawMessage(source),
		Parameters: []engine.Parameter{{Name: "question"}},
		Models:     []engine.ModelSpec{{Name: "main"}},
		Graph:      &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Nodes:      map[string]engine.Node{"a": w.node},
		Memory:     engine.MemorySettings{Backend: "none"},
	}
	if err := json.Unmarshal([]byte(source), &p.Limits.MaxSteps); err != nil {
		return nil, err
	}
	if w.restricts {
		p.Agents = []*engine.Program{{Source: json.RawMessage(`{"tools":{"pay":{"four_eyes":true}}}`)}}
	}
	for _, s := range set {
		if _, err := fmt.Sscanf(s, "limits.max_steps=%d", &p.Limits.MaxSteps); err != nil {
			return nil, fmt.Errorf("--set %s: %w", s, err)
		}
	}
	return p, nil
}

func (w *world) connect(*engine.Program, engine.Input) (engine.Host, error) {
	if w.connecting != nil {
		w.connecting()
	}
	return engine.Host{Models: map[string]model.Model{"main": w.model}}, nil
}

// open opens the home, as another process would.
func (w *world) open() *runs.Service {
	w.t.Helper()
	s, err := runs.Open(w.dir, runs.Env{
		Compile: func(start engine.Start, set ...string) (*engine.Program, error) {
			return w.program(string(start.Program), set...)
		},
		Current: func(*engine.Origin) (*engine.Program, error) {
			if w.spec == "" {
				return nil, nil
			}
			return w.program(w.spec)
		},
		Connect: w.connect,
		By:      func() engine.Actor { return engine.Actor{User: "ada"} },
		Version: "test",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// start starts a run with a limit of two steps.
func (w *world) start(s *runs.Service, id string) *runs.Session {
	w.t.Helper()
	p, err := w.program("2")
	if err != nil {
		w.t.Fatal(err)
	}
	in := engine.Input{RunID: id, Parameters: map[string]any{"question": "why?"}, Origin: &engine.Origin{Spec: "/spec.yaml"}}
	host, err := w.connect(p, in)
	if err != nil {
		w.t.Fatal(err)
	}
	session, err := s.Start(runs.NewRun{Program: p, Input: in, Host: host})
	if err != nil {
		w.t.Fatal(err)
	}
	return session
}

// awaitSecondCall waits until the intent of a run's second call is stored.
func (w *world) awaitSecondCall(id string) {
	w.t.Helper()
	s := w.open()
	for w.t.Context().Err() == nil {
		if recs, err := s.Home().Read(id); err == nil && len(recs) == 4 {
			return
		}
		runtime.Gosched()
	}
}

// finish runs and closes a session.
func (w *world) finish(s *runs.Session) *engine.Result {
	w.t.Helper()
	res := s.Run(w.t.Context(), runs.Observer{})
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
	return res
}

func (w *world) resume(s *runs.Service, id string, t runs.ResumeOptions) *engine.Result {
	w.t.Helper()
	session, err := s.Resume(w.t.Context(), id, t)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.finish(session)
}

func ask(s engine.Scope, name string) (string, error) {
	reply, err := s.Model(name, model.Call{LLM: "main", Role: "planner", Messages: []model.Message{{Role: model.User, Text: model.Text{name}}}})
	if err != nil {
		return "", err
	}
	return reply.Text, nil
}

// answers calls the model twice and answers with the second reply.
func answers(s engine.Scope) error {
	if _, err := ask(s, "first"); err != nil {
		return err
	}
	text, err := ask(s, "second")
	if err == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: text}})
	}
	return err
}

// approved asks a human for two decisions and answers with them.
func approved(s engine.Scope) error {
	var said []string
	for _, name := range []string{"one", "two"} {
		d, err := s.Ask(name, interrupt.Question{Kind: interrupt.Approval, Question: name + "?"})
		if err != nil {
			return err
		}
		said = append(said, d.Do)
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: strings.Join(said, ",")}})
	return nil
}

// counted calls the model four times, within the limit of steps.
func counted(s engine.Scope) error {
	for i := range 4 {
		if s.Exceeded(func(l engine.Limits) bool { return i >= l.MaxSteps }) {
			return stop.Fail(stop.MaxSteps, "limits.max_steps", "%d steps", i)
		}
		if _, err := ask(s, fmt.Sprint("step", i)); err != nil {
			return err
		}
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: "four"}})
	return nil
}

func TestRunIsStoredAndListed(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	if res := w.finish(w.start(s, "r-1")); res.Status != stop.RunCompleted || res.Response != "reply 2" {
		t.Fatalf("%s: %s", res.Status, res.Error)
	}
	other := w.open()
	run, err := other.Read("r-1")
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Show(t.Context()); got.Status != stop.RunCompleted || got.Response != "reply 2" || !run.Ended() || run.Running {
		t.Errorf("read again: %s %q", got.Status, got.Response)
	}
	if w.model.calls != 2 {
		t.Errorf("reading a run called the model: %d calls", w.model.calls)
	}
	list, more, err := other.List(t.Context(), runs.Filter{Status: "completed", Spec: "agent"})
	if err != nil || more != 0 || len(list) != 1 || list[0].Question != "why?" || list[0].ModelCalls != 2 {
		t.Errorf("%+v, %d more, %v", list, more, err)
	}
	if _, err := s.Start(runs.NewRun{Program: run.Program, Input: run.Start.Input}); !errors.As(err, new(*journal.ExistsError)) {
		t.Errorf("second run with the same id: %v", err)
	}
}

func TestFindAcceptsIDsPrefixesAndLatest(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	if _, err := s.Find(runs.Latest); err == nil || err.Error() != "no runs in "+w.dir+" yet" {
		t.Errorf("latest without runs: %v", err)
	}
	for _, id := range []string{"r-20", "r-21", "s-1"} {
		w.finish(w.start(s, id))
	}
	for word, want := range map[string]string{"r-20": "r-20", "s": "s-1", runs.Latest: "s-1"} {
		if got, err := s.Find(word); got != want || err != nil {
			t.Errorf("%s: %s, %v", word, got, err)
		}
	}
	if _, err := s.Find("x"); !errors.As(err, new(*runs.NotFoundError)) {
		t.Errorf("x: %v", err)
	}
	_, err := s.Find("r-2")
	if err == nil || !strings.Contains(err.Error(), "r-2: it matches 2 runs in "+w.dir+": r-20 and r-21") {
		t.Errorf("r-2: %v", err)
	}
}

func TestRemovingAnUnfinishedRunNeedsForce(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	if err := s.CheckRemovable(t.Context(), []string{"r-1"}, false); err == nil || err.Error() != "run r-1 is waiting for an answer" {
		t.Errorf("%v", err)
	}
	session, err := s.Resume(t.Context(), "r-1", runs.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckRemovable(t.Context(), []string{"r-1"}, true); !errors.As(err, new(*journal.InUseError)) {
		t.Errorf("locked: %v", err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckRemovable(t.Context(), []string{"r-1"}, true); err != nil {
		t.Error(err)
	}
	if err := s.Remove("r-1"); err != nil {
		t.Error(err)
	}
	if err := s.Remove("r-1"); !errors.As(err, new(*runs.NotFoundError)) {
		t.Errorf("removed again: %v", err)
	}
}

func TestDamagedRunIsListedAsCorrupt(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	path := s.Home().File("r-1")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	list, _, err := s.List(t.Context(), runs.Filter{})
	if err != nil || len(list) != 1 || list[0].Status != runs.Corrupt || list[0].Problem == "" || list[0].Question != "why?" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := s.Read("r-1"); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("read: %v", err)
	}
}

// A damaged run that is not among the latest is counted like the others.
func TestListReadsOnlyTheLatestRuns(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	ids := []string{"r-20260101-000000-00000001", "r-20260102-000000-00000002", "r-20260103-000000-00000003", "mine"}
	for _, id := range ids {
		w.finish(w.start(s, id))
	}
	old := s.Home().File(ids[0])
	if err := os.WriteFile(old, []byte("damaged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]int{1: 3, 2: 2, 3: 1, 4: 0, 0: 0} {
		list, more, err := s.List(t.Context(), runs.Filter{Limit: limit})
		if err != nil || more != want || len(list)+more != len(ids) {
			t.Errorf("limit %d: %d runs, %d more, %v", limit, len(list), more, err)
		}
	}
	if list, more, err := s.List(t.Context(), runs.Filter{Limit: 1, Spec: "agent"}); err != nil || len(list) != 1 || more < 2 {
		t.Errorf("filtered: %+v, %d more, %v", list, more, err)
	}
}

func TestIDsSortByTime(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ids := []string{runs.NewID(at), runs.NewID(at.Add(time.Second)), runs.NewID(at.Add(time.Hour))}
	if !slices.IsSorted(ids) || !strings.HasPrefix(ids[0], "r-20260102-030405-") {
		t.Error(ids)
	}
}

// sinkFunc implements engine.Sink with a function.
type sinkFunc func(engine.Event)

func (f sinkFunc) Send(e engine.Event) { f(e) }
