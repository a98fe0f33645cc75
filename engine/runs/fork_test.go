package runs_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

func TestForkContinuesFromAnEffectOfItsParent(t *testing.T) {
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
		t.Errorf("unknown path: %v", err)
	}
	session, err := fork(runs.Fork{RunID: "r-2", At: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if res := w.finish(session); res.Response != "reply 3" || session.Input.From.Run != "r-1" || !session.Input.Detached {
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
	texts := runs.Formatter{
		Diff: func(_, a, _, b string) string {
			if a == b {
				return ""
			}
			return "-" + a + "+" + b
		},
		Duration: time.Duration.String,
	}
	c, err := runs.Compare(t.Context(), parent, child, texts)
	if err != nil || c.Same || c.First != nil || c.Answer == "" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = runs.Compare(t.Context(), parent, parent, texts); err != nil || !c.Same || len(c.Fields) > 0 {
		t.Errorf("a run compared with itself: %+v, %v", c, err)
	}
}

func TestForkOfAFailedRunRepeatsTheFailedCall(t *testing.T) {
	w := newWorld(t, answers)
	w.model.fails = true
	s := w.open()
	if res := w.finish(w.start(s, "r-1")); res.Status != stop.RunFailed {
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
	if res := w.finish(session); res.Status != stop.RunCompleted {
		t.Errorf("%s: %s", res.Status, res.Error)
	}
}

func TestReplayCallsNoModel(t *testing.T) {
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
		Input: engine.Input{RunID: "r-2", Parameters: map[string]any{"question": "why?"}, From: from, Detached: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if res := w.finish(session); res.Response != want.Response || w.model.calls != 2 {
		t.Errorf("%s %q after %d calls", res.Status, res.Response, w.model.calls)
	}
}

// A fork of a run that restricts who approves has the authors of the run, and the one who forks
// it as its starter.
func TestAForkHasTheAuthorsOfItsRun(t *testing.T) {
	w := newWorld(t, approved)
	w.restricts = true
	s := w.open()
	ann := engine.Actor{User: "ann", Issuer: "tokens", Roles: []string{"run"}}
	w.finish(w.start(s.As(ann), "r-1"))
	bea := engine.Actor{User: "bea", Issuer: "tokens"}
	if res := w.resume(s.As(bea), "r-1", runs.ResumeOptions{Answers: []runs.Answer{{Value: `edit:{"n": 1}`}}}); len(res.Decisions) != 1 {
		t.Fatalf("%s %s", res.Status, res.Error)
	}
	fork := runs.Fork{
		RunID: "r-2", At: "two",
		Compile: func(parent engine.Start, _ []string) (*engine.Program, *engine.Origin, error) {
			p, err := w.program(string(parent.Program))
			return p, parent.Input.Origin, err
		},
		Inputs: func(_ *engine.Program, given map[string]any) (map[string]any, error) { return given, nil },
	}
	cid := engine.Actor{User: "cid", Issuer: "tokens"}
	session, err := s.As(cid).Fork(t.Context(), "r-1", fork)
	if err != nil {
		t.Fatal(err)
	}
	in := session.Input
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if in.By == nil || !in.By.Same(cid) || len(in.Authors) != 2 || !in.Authors[0].Same(ann) || len(in.Authors[0].Roles) > 0 || !in.Authors[1].Same(bea) {
		t.Errorf("started by %v, authors %v", in.By, in.Authors)
	}
}

// The author of a change of the parent may be unknown, as in old journals. The fork must not take
// it for one without changes: then nobody passes a rule with four_eyes.
func TestAForkHasUnknownAuthorsOfItsParent(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	w.resume(s.As(engine.Actor{}), "r-1", runs.ResumeOptions{Answers: []runs.Answer{{Value: `edit:{"n":1}`}}})
	session, err := s.Fork(t.Context(), "r-1", runs.Fork{
		RunID: "r-2",
		Compile: func(parent engine.Start, _ []string) (*engine.Program, *engine.Origin, error) {
			p, err := w.program(string(parent.Program))
			p.Source = []byte(`{"approvers":"true"}`)
			return p, parent.Input.Origin, err
		},
		Inputs: func(_ *engine.Program, given map[string]any) (map[string]any, error) { return given, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.Input.Authors; len(got) != 2 || !got[0].IsZero() || !got[1].IsZero() {
		t.Errorf("%+v, want who started it and who edited it, both unknown", got)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
}

// A rehearsal makes no call, stores nothing, and says where the fork leaves the recording.
func TestARehearsalOfAForkCallsNothing(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	rehearse := func(f runs.Fork, source string) *runs.Rehearsal {
		t.Helper()
		f.Compile = func(parent engine.Start, _ []string) (*engine.Program, *engine.Origin, error) {
			p, err := w.program(source)
			return p, parent.Input.Origin, err
		}
		f.Inputs = func(_ *engine.Program, given map[string]any) (map[string]any, error) { return given, nil }
		r, err := s.RehearseFork(t.Context(), "r-1", f)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	start, err := s.StartOf("r-1")
	if err != nil {
		t.Fatal(err)
	}
	calls := w.model.calls
	r := rehearse(runs.Fork{At: "second"}, string(start.Program))
	if len(r.Live) != 1 || !strings.HasPrefix(r.Live[0].Path, "second") || r.Replayed.ModelCalls != 1 || r.Dropped != 1 || r.Fails != nil || len(r.Live[0].Drift) > 0 || !r.Live[0].Recorded {
		t.Errorf("%+v", r)
	}
	if r = rehearse(runs.Fork{}, string(start.Program)); len(r.Live) > 0 || r.Replayed.ModelCalls != calls || r.Dropped != 0 || r.WorstCase.Calls.Most != 0 {
		t.Errorf("%+v", r)
	}
	if list, _, err := s.List(t.Context(), runs.Filter{}); w.model.calls != calls || len(list) != 1 || err != nil {
		t.Errorf("%d calls, runs %+v, %v", w.model.calls, list, err)
	}
	f := runs.Fork{At: "nowhere", Compile: func(parent engine.Start, _ []string) (*engine.Program, *engine.Origin, error) {
		p, err := w.program(string(start.Program))
		return p, parent.Input.Origin, err
	}}
	if _, err := s.RehearseFork(t.Context(), "r-1", f); !errors.As(err, new(*runs.ForkPointError)) {
		t.Errorf("unknown path: %v", err)
	}
}
