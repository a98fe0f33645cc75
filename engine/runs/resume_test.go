package runs_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

func TestSuspendedRunResumesWhereItStopped(t *testing.T) {
	w := newWorld(t, answers)
	w.model = &fakeModel{gate: make(chan struct{})}
	s := w.open()
	ctx, suspend := context.WithCancel(t.Context())
	session := w.start(s, "r-1")
	done := make(chan *engine.Result)
	go func() { done <- session.Run(ctx, runs.Observer{}) }()
	w.awaitSecondCall("r-1")
	if sum := w.open().Summary(t.Context(), "r-1"); sum.Status != runs.Running {
		t.Errorf("status of the executing run: %s", sum.Status)
	}
	if _, err := w.open().Resume(t.Context(), "r-1", runs.ResumeOptions{}); !errors.As(err, new(*journal.InUseError)) {
		t.Errorf("a second session: %v", err)
	}
	suspend()
	if res := <-done; res.Status != stop.RunInterrupted {
		t.Fatalf("suspended: %s", res.Status)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	close(w.model.gate)
	if res := w.resume(w.open(), "r-1", runs.ResumeOptions{}); res.Status != stop.RunCompleted {
		t.Errorf("resumed: %s %s", res.Status, res.Error)
	}
	_, err := s.Resume(t.Context(), "r-1", runs.ResumeOptions{})
	if over, ok := errors.AsType[*runs.EndedError](err); !ok || over.Result.Status != stop.RunCompleted {
		t.Errorf("resumed again: %v", err)
	}
}

// A copy of the home made during a call equals the home after a crash.
func TestCrashedRunIsResumed(t *testing.T) {
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
	if sum := crashed.open().Summary(t.Context(), "r-1"); sum.Status != stop.RunInterrupted {
		t.Errorf("status of a crashed run: %s", sum.Status)
	}
	crashed.model = &fakeModel{calls: 1}
	if res := crashed.resume(crashed.open(), "r-1", runs.ResumeOptions{}); res.Status != want.Status || res.Response != want.Response {
		t.Errorf("%s %q, want %s %q", res.Status, res.Response, want.Status, want.Response)
	}
}

func TestAnswersResumeAWaitingRun(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	if res := w.finish(w.start(s, "r-1")); res.Status != stop.RunInterrupted || len(res.Interrupts) != 1 {
		t.Fatalf("waiting: %s, %v", res.Status, res.Interrupts)
	}
	refused := func(t runs.ResumeOptions) string {
		_, err := s.Resume(w.t.Context(), "r-1", t)
		if err == nil {
			return "nothing"
		}
		return err.Error()
	}
	for _, c := range []struct{ value, want string }{
		{"maybe", `one: invalid answer "maybe"; use approve | deny[:why] | edit:<json>`},
		{"two=approve", "no question was asked at two; open: one"},
		{"edit:{", "one: invalid JSON after edit:; use approve | deny[:why] | edit:<json>"},
	} {
		if got := refused(runs.ResumeOptions{Answers: []runs.Answer{{Value: c.value}}}); got != c.want {
			t.Errorf("%s: %s", c.value, got)
		}
	}
	if got := refused(runs.ResumeOptions{Answers: []runs.Answer{{Path: "one", Value: "approve"}, {Value: "deny"}}}); got != "one: duplicate answer; a question takes one answer" {
		t.Error(got)
	}
	if res := w.resume(s, "r-1", runs.ResumeOptions{Answers: []runs.Answer{{Value: "approve"}}}); res.Status != stop.RunInterrupted || res.Interrupts[0].Path != "two" {
		t.Fatalf("one answered: %s, %v", res.Status, res.Interrupts)
	}
	if got := refused(runs.ResumeOptions{Answers: []runs.Answer{{Path: "one", Value: "deny"}}}); got != "one was already answered (approve): a question takes one answer; open: two" {
		t.Error(got)
	}
	if res := w.resume(s, "r-1", runs.ResumeOptions{Answers: []runs.Answer{{Path: "two", Value: "deny:no"}}}); res.Response != "approve,deny" {
		t.Errorf("both answered: %s %q", res.Status, res.Response)
	}
	if got := refused(runs.ResumeOptions{Answers: []runs.Answer{{Value: "approve"}}}); got != `run "r-1" is not waiting for an answer: it has ended (completed)` {
		t.Error(got)
	}
}

func TestHigherLimitLetsARunContinue(t *testing.T) {
	w := newWorld(t, counted)
	s := w.open()
	if res := w.finish(w.start(s, "r-1")); res.StopReason.Code != stop.MaxSteps {
		t.Fatalf("%+v", res.StopReason)
	}
	for _, set := range []string{"limits.max_steps=1", "llms.main.model=x"} {
		_, err := s.Resume(t.Context(), "r-1", runs.ResumeOptions{Set: []string{set}})
		if !errors.As(err, new(*runs.LimitError)) {
			t.Errorf("%s: %v", set, err)
		}
	}
	session, err := s.Resume(t.Context(), "r-1", runs.ResumeOptions{Set: []string{"limits.max_steps=9"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, suspend := context.WithCancel(t.Context())
	suspend()
	session.Run(ctx, runs.Observer{})
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if sum := s.Summary(t.Context(), "r-1"); sum.Status != stop.RunFailed || sum.StopReason.Code != stop.MaxSteps {
		t.Errorf("suspended before it continued: %s %+v", sum.Status, sum.StopReason)
	}
	res := w.resume(s, "r-1", runs.ResumeOptions{Set: []string{"limits.max_steps=9"}})
	if res.Response != "four" || w.model.calls != 4 {
		t.Errorf("%s %q after %d calls", res.Status, res.Response, w.model.calls)
	}
	_, err = s.Resume(t.Context(), "r-1", runs.ResumeOptions{Set: []string{"limits.max_steps=99"}})
	if limit, ok := errors.AsType[*runs.LimitError](err); !ok || limit.Stop.Code != stop.Answered {
		t.Errorf("higher limit for an answered run: %v", err)
	}
}

func TestRunWithChangedSpecNeedsKeepSpec(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	for _, spec := range []string{"3", "not a number"} {
		w.spec = spec
		_, err := s.Resume(t.Context(), "r-1", runs.ResumeOptions{})
		if changed, ok := errors.AsType[*runs.SpecChangedError](err); !ok || (changed.Err == nil) != (spec == "3") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if res := w.resume(s, "r-1", runs.ResumeOptions{KeepSpec: true}); res.Status != stop.RunInterrupted {
		t.Errorf("with the original spec: %s", res.Status)
	}
}

func TestAnyServiceCancelsARun(t *testing.T) {
	for name, running := range map[string]bool{"executing": true, "waiting": false} {
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
			if err != nil || res.Status != stop.RunCancelled {
				t.Fatalf("%+v, %v", res, err)
			}
			if sum := other.Summary(t.Context(), "r-1"); sum.Status != stop.RunCancelled {
				t.Errorf("listed as %s", sum.Status)
			}
			if _, err := other.Cancel(t.Context(), "r-1"); !errors.As(err, new(*runs.EndedError)) {
				t.Errorf("cancelled again: %v", err)
			}
		})
	}
}

// A session that opens a waiting run at the moment of its cancellation learns of the
// request, so Cancel waits for it.
func TestCancelWaitsForASessionThatOpensTheRunFirst(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	ctx, leave := context.WithCancel(t.Context())
	var other *journal.File
	reads := 0
	w.connecting = func() {
		if reads++; reads != 2 { // the second time, Cancel has seen that the run is not open
			return
		}
		var err error
		if other, err = s.Home().Open("r-1"); err != nil {
			t.Error(err)
		}
		leave()
	}
	if _, err := s.Cancel(ctx, "r-1"); !errors.Is(err, context.Canceled) {
		t.Fatalf("did not wait: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if res, err := s.Cancel(t.Context(), "r-1"); err != nil || res.Status != stop.RunCancelled {
		t.Errorf("%+v, %v", res, err)
	}
}

// A run exists from Begin on: its session may end before it executed anything.
func TestARunThatOnlyBeganIsResumed(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	session := w.start(s, "r-1")
	if err := session.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if sum := w.open().Summary(t.Context(), "r-1"); sum.Status != stop.RunInterrupted || sum.StopReason.Code != stop.Suspended {
		t.Errorf("status: %s %s", sum.Status, sum.StopReason.Code)
	}
	if res := w.resume(w.open(), "r-1", runs.ResumeOptions{}); res.Status != stop.RunCompleted {
		t.Errorf("resumed: %s %s", res.Status, res.Error)
	}
}

func TestABegunRunContinuesInItsSession(t *testing.T) {
	w := newWorld(t, answers)
	var events []engine.EventType
	session := w.start(w.open(), "r-1")
	if err := session.Begin(); err != nil {
		t.Fatal(err)
	}
	res := session.Run(t.Context(), runs.Observer{Sinks: []engine.Sink{sinkFunc(func(e engine.Event) { events = append(events, e.Type) })}})
	if err := session.Close(); err != nil || res.Status != stop.RunCompleted {
		t.Errorf("%s %s %v", res.Status, res.Error, err)
	}
	if len(events) == 0 || events[0] != engine.RunStarted || events[len(events)-1] != engine.RunCompleted {
		t.Errorf("events: %v", events)
	}
}

// Decisions name who made them, also if the service is that of others.
func TestDecisionsHaveTheirAuthor(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	ann := engine.Actor{User: "ann", Issuer: "tokens"}
	session, err := s.As(ann).Resume(t.Context(), "r-1", runs.ResumeOptions{Answers: []runs.Answer{{Value: "approve"}}})
	if err != nil {
		t.Fatal(err)
	}
	var decided []string
	session.Run(t.Context(), runs.Observer{Decided: func(path string) { decided = append(decided, path) }})
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := s.Read("r-1")
	if err != nil {
		t.Fatal(err)
	}
	all := r.Result(t.Context()).Decisions
	if len(all) != 1 || all[0].By == nil || !all[0].By.Same(ann) || len(decided) != 1 || decided[0] != all[0].Path {
		t.Errorf("%+v, decided %v", all, decided)
	}
}

// A run that ended is unfinished again while it continues with higher limits.
func TestUnfinishedRuns(t *testing.T) {
	w := newWorld(t, counted)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	w.node = approved
	w.finish(w.start(s, "r-2"))
	want := func(ids ...string) {
		t.Helper()
		for range 2 {
			if got, err := s.Unfinished(); err != nil || !slices.Equal(got, ids) {
				t.Errorf("%v, %v; want %v", got, err, ids)
			}
		}
	}
	want("r-2")
	w.node = approved
	for range 2 {
		w.resume(w.open(), "r-2", runs.ResumeOptions{Answers: []runs.Answer{{Value: "approve"}}})
	}
	want()
	w.node = func(s engine.Scope) error {
		if err := counted(s); err != nil {
			return err
		}
		return approved(s)
	}
	if res := w.resume(w.open(), "r-1", runs.ResumeOptions{Set: []string{"limits.max_steps=9"}}); res.Status != stop.RunInterrupted {
		t.Fatal(res.Status)
	}
	want("r-1")
}
