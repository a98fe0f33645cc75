package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
)

// node is a node that is a function.
type node func(engine.Scope) error

func (n node) Run(s engine.Scope) error { return n(s) }

// fakeModel answers with the number of the call. The second call waits for gate,
// where that is not nil.
type fakeModel struct {
	mu    sync.Mutex
	calls int
	gate  chan struct{} // closed when the second call may be answered
	fails bool
}

func (m *fakeModel) Generate(ctx context.Context, _ *engine.Request, _ func(engine.Delta)) (*engine.Reply, error) {
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
		return nil, &engine.ModelError{Kind: engine.BadRequest, Message: "no"}
	}
	return &engine.Reply{Text: fmt.Sprint("reply ", n)}, nil
}

// world is what a test's runs are made of.
type world struct {
	t     *testing.T
	dir   string
	node  node
	model *fakeModel
	spec  string // as its file is now; "" = as the runs began
}

func newWorld(t *testing.T, n node) *world {
	return &world{t: t, dir: t.TempDir(), node: n, model: &fakeModel{}}
}

// program is the program of a source, which says how many steps may be taken.
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
	for _, s := range set {
		if _, err := fmt.Sscanf(s, "limits.max_steps=%d", &p.Limits.MaxSteps); err != nil {
			return nil, fmt.Errorf("--set %s: %w", s, err)
		}
	}
	return p, nil
}

func (w *world) connect(*engine.Program, engine.Input) (engine.Host, error) {
	return engine.Host{Models: map[string]engine.Model{"main": w.model}}, nil
}

// open is a handle on the home, as another process would have one.
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
		By:      engine.Actor{User: "ada"},
		Version: "test",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// start starts a run of a program that may take two steps.
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

// awaitSecondCall waits until the intent of a run's second call is stored, behind
// its start and its first call.
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

// finish runs a session to where it ends.
func (w *world) finish(s *runs.Session) *engine.Result {
	w.t.Helper()
	res := s.Run(w.t.Context(), runs.Observer{})
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
	return res
}

func (w *world) resume(s *runs.Service, id string, t runs.Terms) *engine.Result {
	w.t.Helper()
	session, err := s.Resume(w.t.Context(), id, t)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.finish(session)
}

func ask(s engine.Scope, name string) (string, error) {
	reply, err := s.Model(name, engine.ModelCall{LLM: "main", Role: "planner", Messages: []engine.Message{{Role: engine.User, Text: engine.Text{name}}}})
	if err != nil {
		return "", err
	}
	return reply.Text, nil
}

// answers asks the model twice, and says what it answered last.
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

// approved asks a person for two decisions, and answers with them.
func approved(s engine.Scope) error {
	var said []string
	for _, name := range []string{"one", "two"} {
		d, err := s.Ask(name, engine.Question{Kind: engine.AskApproval, Question: name + "?"})
		if err != nil {
			return err
		}
		said = append(said, d.Do)
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: strings.Join(said, ",")}})
	return nil
}

// counted asks the model four times, as far as its limit of steps lets it.
func counted(s engine.Scope) error {
	for i := range 4 {
		if s.Exceeded(func(l engine.Limits) bool { return i >= l.MaxSteps }) {
			return engine.Fail(engine.StopMaxSteps, "limits.max_steps", "%d steps", i)
		}
		if _, err := ask(s, fmt.Sprint("step", i)); err != nil {
			return err
		}
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: "four"}})
	return nil
}

func TestARunIsStoredAndListed(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	if res := w.finish(w.start(s, "r-1")); res.Status != engine.Completed || res.Response != "reply 2" {
		t.Fatalf("%s: %s", res.Status, res.Error)
	}
	other := w.open()
	run, err := other.Read("r-1")
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Show(t.Context()); got.Status != engine.Completed || got.Response != "reply 2" || !run.Ended() || run.Running {
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
		t.Errorf("a second run of that id: %v", err)
	}
}

func TestASuspendedRunIsResumedWhereItStopped(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	s := w.open()
	ctx, suspend := context.WithCancel(t.Context())
	session := w.start(s, "r-1")
	done := make(chan *engine.Result)
	go func() { done <- session.Run(ctx, runs.Observer{}) }()
	w.awaitSecondCall("r-1")
	if sum := w.open().Summary(t.Context(), "r-1"); sum.Status != runs.Running {
		t.Errorf("while it runs it is %s", sum.Status)
	}
	if _, err := w.open().Resume(t.Context(), "r-1", runs.Terms{}); !errors.As(err, new(*journal.HeldError)) {
		t.Errorf("a second session: %v", err)
	}
	suspend()
	if res := <-done; res.Status != engine.Interrupted {
		t.Fatalf("suspended: %s", res.Status)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	close(w.model.gate)
	if res := w.resume(w.open(), "r-1", runs.Terms{}); res.Status != engine.Completed {
		t.Errorf("resumed: %s %s", res.Status, res.Error)
	}
	_, err := s.Resume(t.Context(), "r-1", runs.Terms{})
	if over, ok := errors.AsType[*runs.EndedError](err); !ok || over.Result.Status != engine.Completed {
		t.Errorf("resumed once more: %v", err)
	}
}

// The copy of a home that is taken in the middle of a call is what a crash leaves.
func TestACrashedRunIsResumed(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	session := w.start(w.open(), "r-1")
	done := make(chan *engine.Result)
	go func() { done <- session.Run(t.Context(), runs.Observer{}) }()
	w.awaitSecondCall("r-1")
	crashed := *w
	crashed.dir = t.TempDir()
	if err := os.CopyFS(crashed.dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	close(w.model.gate)
	want := <-done
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if sum := crashed.open().Summary(t.Context(), "r-1"); sum.Status != engine.Interrupted {
		t.Errorf("a crashed run is %s", sum.Status)
	}
	crashed.model = &fakeModel{calls: 1}
	if res := crashed.resume(crashed.open(), "r-1", runs.Terms{}); res.Status != want.Status || res.Response != want.Response {
		t.Errorf("%s %q, want %s %q", res.Status, res.Response, want.Status, want.Response)
	}
}

func TestAnswersDecideTheQuestionsOfAParkedRun(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	if res := w.finish(w.start(s, "r-1")); res.Status != engine.Interrupted || len(res.Interrupts) != 1 {
		t.Fatalf("parked: %s, %v", res.Status, res.Interrupts)
	}
	refused := func(t runs.Terms) string {
		_, err := s.Resume(w.t.Context(), "r-1", t)
		if err == nil {
			return "nothing"
		}
		return err.Error()
	}
	for _, c := range []struct{ value, want string }{
		{"maybe", `one: "maybe" is none of the answers; use approve | deny[:why] | edit:<json>`},
		{"two=approve", "no question was asked at two; open: one"},
		{"edit:{", "one: what follows edit: is not JSON; use approve | deny[:why] | edit:<json>"},
	} {
		if got := refused(runs.Terms{Answers: []runs.Answer{{Value: c.value}}}); got != c.want {
			t.Errorf("%s: %s", c.value, got)
		}
	}
	if got := refused(runs.Terms{Answers: []runs.Answer{{"one", "approve"}, {Value: "deny"}}}); got != "one is given twice: a question takes one decision" {
		t.Error(got)
	}
	if res := w.resume(s, "r-1", runs.Terms{Answers: []runs.Answer{{Value: "approve"}}}); res.Status != engine.Interrupted || res.Interrupts[0].Path != "two" {
		t.Fatalf("one answered: %s, %v", res.Status, res.Interrupts)
	}
	if got := refused(runs.Terms{Answers: []runs.Answer{{"one", "deny"}}}); got != "one was answered before (approve): a question takes one decision; open: two" {
		t.Error(got)
	}
	if res := w.resume(s, "r-1", runs.Terms{Answers: []runs.Answer{{"two", "deny:no"}}}); res.Response != "approve,deny" {
		t.Errorf("both answered: %s %q", res.Status, res.Response)
	}
	if got := refused(runs.Terms{Answers: []runs.Answer{{Value: "approve"}}}); got != "run r-1 has ended (answered): no question is open" {
		t.Error(got)
	}
}

func TestAHigherLimitLetsARunContinue(t *testing.T) {
	w := newWorld(t, counted)
	s := w.open()
	if res := w.finish(w.start(s, "r-1")); res.StopReason.Code != engine.StopMaxSteps {
		t.Fatalf("%+v", res.StopReason)
	}
	for _, set := range []string{"limits.max_steps=1", "llms.main.model=x"} {
		_, err := s.Resume(t.Context(), "r-1", runs.Terms{Set: []string{set}})
		if !errors.As(err, new(*runs.LimitError)) {
			t.Errorf("%s: %v", set, err)
		}
	}
	res := w.resume(s, "r-1", runs.Terms{Set: []string{"limits.max_steps=9"}})
	if res.Response != "four" || w.model.calls != 4 {
		t.Errorf("%s %q after %d calls", res.Status, res.Response, w.model.calls)
	}
	_, err := s.Resume(t.Context(), "r-1", runs.Terms{Set: []string{"limits.max_steps=99"}})
	if limit, ok := errors.AsType[*runs.LimitError](err); !ok || limit.Stop.Code != engine.StopAnswered {
		t.Errorf("more for a run that needs none: %v", err)
	}
}

func TestARunWhoseSpecHasChangedIsResumedOnlyOnPurpose(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	for _, spec := range []string{"3", "not a number"} {
		w.spec = spec
		_, err := s.Resume(t.Context(), "r-1", runs.Terms{})
		if changed, ok := errors.AsType[*runs.SpecChangedError](err); !ok || (changed.Err == nil) != (spec == "3") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if res := w.resume(s, "r-1", runs.Terms{KeepSpec: true}); res.Status != engine.Interrupted {
		t.Errorf("with its own spec: %s", res.Status)
	}
}

func TestAnyHandleCancelsARun(t *testing.T) {
	for name, running := range map[string]bool{"that runs": true, "that waits": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(s engine.Scope) error {
				if running {
					return answers(s)
				}
				return approved(s)
			})
			w.model = &fakeModel{gate: make(chan struct{})}
			session := w.start(w.open(), "r-1")
			ended := make(chan error, 1)
			go func() {
				session.Run(t.Context(), runs.Observer{})
				ended <- session.Close()
			}()
			if running {
				w.awaitSecondCall("r-1")
			} else if err := <-ended; err != nil {
				t.Fatal(err)
			}
			other := w.open()
			res, err := other.Cancel(t.Context(), "r-1")
			if err != nil || res.Status != engine.Cancelled {
				t.Fatalf("%+v, %v", res, err)
			}
			if sum := other.Summary(t.Context(), "r-1"); sum.Status != engine.Cancelled {
				t.Errorf("listed as %s", sum.Status)
			}
			if _, err := other.Cancel(t.Context(), "r-1"); !errors.As(err, new(*runs.EndedError)) {
				t.Errorf("cancelled again: %v", err)
			}
		})
	}
}

func TestAForkContinuesFromAPlaceInItsParent(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	fork := func(f runs.Fork) (*runs.Session, error) {
		f.Compile = func(parent engine.Start, _ []string) (*engine.Program, *engine.Origin, error) {
			p, err := w.program(string(parent.Program))
			return p, parent.Input.Origin, err
		}
		f.Inputs = func(_ *engine.Program, given map[string]any) (map[string]any, error) { return given, nil }
		return s.Fork(t.Context(), "r-1", f)
	}
	if _, err := fork(runs.Fork{RunID: "r-2", At: "nowhere"}); !errors.As(err, new(*runs.ForkPointError)) {
		t.Errorf("at no effect: %v", err)
	}
	session, err := fork(runs.Fork{RunID: "r-2", At: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if res := w.finish(session); res.Response != "reply 3" || session.Input.From.Run != "r-1" || !session.Input.Aside {
		t.Errorf("%s %q of %+v", res.Status, res.Response, session.Input.From)
	}
	parent, err := s.Read("r-1")
	if err != nil {
		t.Fatal(err)
	}
	child, err := s.Read("r-2")
	if err != nil {
		t.Fatal(err)
	}
	c, err := runs.Compare(t.Context(), parent, child)
	if err != nil || c.Same || c.First != nil || c.A.Response == c.B.Response {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = runs.Compare(t.Context(), parent, parent); err != nil || !c.Same || len(c.Fields) > 0 {
		t.Errorf("a run and itself: %+v, %v", c, err)
	}
}

// A fork begins at the call that its parent failed at.
func TestAForkOfAFailedRunTriesItsLastCallAgain(t *testing.T) {
	w := newWorld(t, answers)
	w.model.fails = true
	s := w.open()
	if res := w.finish(w.start(s, "r-1")); res.Status != engine.Failed {
		t.Fatal(res.Status)
	}
	w.model.fails = false
	session, err := s.Fork(t.Context(), "r-1", runs.Fork{
		RunID: "r-2",
		Compile: func(parent engine.Start, _ []string) (*engine.Program, *engine.Origin, error) {
			p, err := w.program(string(parent.Program))
			return p, nil, err
		},
		Inputs: func(_ *engine.Program, given map[string]any) (map[string]any, error) { return given, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if res := w.finish(session); res.Status != engine.Completed {
		t.Errorf("%s: %s", res.Status, res.Error)
	}
}

func TestAReplayAsksNoModel(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	want := w.finish(w.start(s, "r-1"))
	p, err := w.program("2")
	if err != nil {
		t.Fatal(err)
	}
	from := &engine.Source{Run: "r-1"}
	recs, err := s.Source(from)
	if err != nil {
		t.Fatal(err)
	}
	host, _ := w.connect(p, engine.Input{})
	session, err := s.Start(runs.NewRun{
		Program: p, Host: host, Records: recs,
		Input: engine.Input{RunID: "r-2", Parameters: map[string]any{"question": "why?"}, From: from, Aside: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if res := w.finish(session); res.Response != want.Response || w.model.calls != 2 {
		t.Errorf("%s %q after %d calls", res.Status, res.Response, w.model.calls)
	}
}

// events keeps the types of events.
type events struct {
	mu    sync.Mutex
	types []engine.EventType
}

func (e *events) Send(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.types = append(e.types, ev.Type)
}

func TestWhoFollowsARunHearsAllOfIt(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	session := w.start(w.open(), "r-1")
	ended := make(chan error, 1)
	own, followed := &events{}, &events{}
	go func() {
		session.Run(t.Context(), runs.Observer{Sinks: []engine.Sink{own}})
		ended <- session.Close()
	}()
	w.awaitSecondCall("r-1")
	type end struct {
		res *engine.Result
		err error
	}
	over := make(chan end, 1)
	go func() {
		res, err := w.open().Follow(t.Context(), "r-1", followed)
		over <- end{res, err}
	}()
	close(w.model.gate)
	got := <-over
	if got.err != nil || got.res.Status != engine.Completed {
		t.Fatalf("%+v", got)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(own.types, followed.types); diff != "" {
		t.Error(diff)
	}
}

func TestARunThatIsFollowedMayBeLeft(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	session := w.start(w.open(), "r-1")
	done := make(chan *engine.Result)
	go func() { done <- session.Run(t.Context(), runs.Observer{}) }()
	w.awaitSecondCall("r-1")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := w.open().Follow(ctx, "r-1"); err != nil {
		t.Error(err)
	}
	close(w.model.gate)
	if res := <-done; res.Status != engine.Completed {
		t.Errorf("the run that nobody follows: %s", res.Status)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

func TestAWordStandsForARun(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	if _, err := s.Find(runs.Latest); !errors.As(err, new(*runs.EmptyError)) {
		t.Errorf("the latest of none: %v", err)
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
	if err == nil || !strings.Contains(err.Error(), "r-2 is the beginning of 2 runs in "+w.dir+": r-20 and r-21") {
		t.Errorf("r-2: %v", err)
	}
}

func TestOnlyRunsThatEndedAreRemovedUnasked(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	if err := s.Removable(t.Context(), []string{"r-1"}, false); err == nil || err.Error() != "run r-1 waits for a person" {
		t.Errorf("%v", err)
	}
	session, err := s.Resume(t.Context(), "r-1", runs.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Removable(t.Context(), []string{"r-1"}, true); !errors.As(err, new(*journal.HeldError)) {
		t.Errorf("held: %v", err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Removable(t.Context(), []string{"r-1"}, true); err != nil {
		t.Error(err)
	}
	if err := s.Remove("r-1"); err != nil {
		t.Error(err)
	}
	if err := s.Remove("r-1"); !errors.As(err, new(*runs.NotFoundError)) {
		t.Errorf("removed again: %v", err)
	}
}

func TestADamagedRunIsListedAsSuch(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	path := filepath.Join(s.Home().Folder("r-1"), "journal.jsonl")
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

func TestIDsSortByTime(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ids := []string{runs.NewID(at), runs.NewID(at.Add(time.Second)), runs.NewID(at.Add(time.Hour))}
	if !slices.IsSorted(ids) || !strings.HasPrefix(ids[0], "r-20260102-030405-") {
		t.Error(ids)
	}
}
