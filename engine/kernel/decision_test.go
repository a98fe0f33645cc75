package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// decisions are the calls of Options.OnDecision, formatted.
type decisions []string

func (d *decisions) add(got kernel.Decision) {
	*d = append(*d, fmt.Sprintf("%d %s %s %s of %s at %s", got.Record.Kind, got.Record.Path, got.Record.Body, got.Record.By, got.Request, time.Unix(0, got.Record.WallTime).UTC().Format("15:04")))
}

// deciding runs a program on j in the name of who, and returns the decisions that
// OnDecision received.
func deciding(t *testing.T, j journal.Journal, who string, prog func(*kernel.Scope) error, with func(*kernel.Options)) (decisions, error) {
	t.Helper()
	var all decisions
	o := kernel.Options{RunID: "r", Journal: j, By: json.RawMessage(`{"user":"` + who + `"}`), WallClock: func() time.Time { return noon }, OnDecision: all.add}
	if with != nil {
		with(&o)
	}
	_, err := runWith(t.Context(), o, prog)
	return all, err
}

// onFile gives the records as a file holds them.
func onFile(t *testing.T, recs []journal.Record) *journal.Memory {
	t.Helper()
	c, err := journal.Decode(file(t, recs))
	if err != nil {
		t.Fatal(err)
	}
	return &journal.Memory{Records: c.Records, RoundTrip: true}
}

func TestDecisionsAreKeptWithWhoAndWhen(t *testing.T) {
	ask := func(s *kernel.Scope) error {
		_, err := kernel.Ask[string](s, kernel.Question{Name: "q", Request: func() []byte { return []byte(`{"n":1}`) }})
		return err
	}
	write := func(s *kernel.Scope) error {
		_, err := kernel.Do(s, kernel.Effect[string]{
			Name: "w", Class: journal.Write, Request: func() []byte { return []byte(`{"to":"x"}`) },
			Perform: func(context.Context, string) (string, error) { return "live", nil },
		})
		if f, ok := errors.AsType[*journal.Failure](err); ok && f.Code == kernel.FailureSkipped {
			return nil
		}
		return err
	}
	killed := []journal.Record{{Seq: 1, Kind: journal.Start, Path: "r"}, {Seq: 2, Kind: journal.Intent, Class: journal.Write, Attempt: 1, Path: "w", Body: []byte(`{"to":"x"}`), Encoded: true}}
	limit := func(s *kernel.Scope) error { s.ReevaluateLimits(); return nil }
	for name, c := range map[string]struct {
		prog func(*kernel.Scope) error
		recs []journal.Record
		with func(*kernel.Options)
		want decisions
	}{
		"an answer": {
			ask, nil, func(o *kernel.Options) { o.Answers = map[string]json.RawMessage{"q": []byte(`"yes"`)} },
			decisions{`3 q "yes" {"user":"ann"} of {"n":1} at 12:00`},
		},
		"an answer in place": {
			ask, nil, func(o *kernel.Options) {
				o.Ask = func(context.Context, string, []byte) (kernel.Given, error) {
					return kernel.Given{Body: []byte(`"no"`)}, nil
				}
			},
			decisions{`3 q "no" {"user":"ann"} of {"n":1} at 12:00`},
		},
		"a write done": {
			write, killed, func(o *kernel.Options) { o.Resolve = map[string]string{"w": `done:"by hand"`} },
			decisions{`3 w "by hand" {"user":"ann"} of {"to":"x"} at 12:00`},
		},
		"a write to be repeated": {
			write, killed, func(o *kernel.Options) { o.Resolve = map[string]string{"w": "redo"} },
			decisions{`4 w  {"user":"ann"} of {"to":"x"} at 12:00`},
		},
		"a write skipped": {
			write, killed, func(o *kernel.Options) { o.Resolve = map[string]string{"w": "skip"} },
			decisions{`3 w {"code":"skipped","message":"skipped by a person","data":{"key":"r/w"}} {"user":"ann"} of {"to":"x"} at 12:00`},
		},
		"a cancel": {ask, nil, func(o *kernel.Options) { o.Cancel = decided() }, decisions{`5   {"user":"ann"} of  at 12:00`}},
		"a cancel from outside": {
			ask, nil, func(o *kernel.Options) {
				o.Cancel, o.CancelledBy = decided(), func() json.RawMessage { return []byte(`{"user":"bea"}`) }
			},
			decisions{`5   {"user":"bea"} of  at 12:00`},
		},
		"a change": {limit, nil, func(o *kernel.Options) { o.ChangeBody = func() []byte { return []byte(`{"max":2}`) } }, decisions{`8  {"max":2} {"user":"ann"} of  at 12:00`}},
		"none":     {write, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			j := &journal.Memory{Records: slices.Clone(c.recs), RoundTrip: true}
			got, err := deciding(t, j, "ann", c.prog, c.with)
			if err != nil && !errors.Is(err, kernel.ErrCancelled) {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Fatal(d)
			}
			again, err := deciding(t, onFile(t, j.Records), "someone else", c.prog, nil)
			if d := cmp.Diff(c.want, again); d != "" || err != nil && !errors.Is(err, kernel.ErrCancelled) {
				t.Fatal("re-run:", d, err)
			}
			fork := &journal.Memory{RoundTrip: true}
			forked, err := deciding(t, fork, "someone else", c.prog, func(o *kernel.Options) { o.Recorded = onShelf(j.Records) })
			if c.want != nil && j.Records[len(j.Records)-2].Kind == journal.Result && c.recs == nil {
				if d := cmp.Diff(c.want, forked); d != "" || err != nil {
					t.Fatal("fork:", d, err)
				}
			}
		})
	}
}

// asking is a write in whose middle a person is asked, beside a read.
func asking(took time.Duration, answered *int) func(*kernel.Scope) error {
	return func(s *kernel.Scope) error {
		return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
			if i == 1 {
				if _, err := eff(s, "r", time.Second); err != nil {
					return err
				}
				_, err := eff(s, "r2", time.Second)
				return err
			}
			_, err := kernel.Do(s, kernel.Effect[string]{
				Name: "w", Class: journal.Write, Request: func() []byte { return []byte(`{"to":"x"}`) },
				Perform: func(ctx context.Context, _ string) (string, error) {
					time.Sleep(took)
					if err := kernel.RecordAnswer(ctx, kernel.Given{Body: []byte(`{"do":"approve"}`)}); err != nil {
						return "", err
					}
					*answered++
					time.Sleep(took)
					return "paid", nil
				},
			})
			if err != nil {
				return err
			}
			_, err = eff(s, "r3", time.Second)
			return err
		})
	}
}

func TestAnAnswerInTheMiddleOfAWriteIsKept(t *testing.T) {
	want := decisions{`10 b.0/w {"do":"approve"} {"user":"ann"} of {"to":"x"} at 12:00`}
	for _, virtual := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			answered := 0
			j := &journal.Memory{RoundTrip: true}
			virtually := func(o *kernel.Options) { o.Virtual = virtual }
			got, err := deciding(t, j, "ann", asking(10*time.Millisecond, &answered), virtually)
			if d := cmp.Diff(want, got); d != "" || err != nil || answered != 1 {
				t.Fatal(d, err, answered)
			}
			again, err := deciding(t, onFile(t, j.Records), "bea", asking(10*time.Millisecond, &answered), virtually)
			if d := cmp.Diff(want, again); d != "" || err != nil || answered != 1 {
				t.Fatal(d, err, answered)
			}
			i := slices.IndexFunc(j.Records, func(r journal.Record) bool { return r.Kind == journal.Answer })
			cut := onFile(t, j.Records[:i+1])
			cutAt, err := deciding(t, cut, "bea", asking(10*time.Millisecond, &answered), virtually)
			if review, ok := errors.AsType[*kernel.NeedsReview](err); !ok || review.Path != "b.0/w" || answered != 1 {
				t.Fatal(err, answered)
			}
			if d := cmp.Diff(want, cutAt); d != "" {
				t.Fatal("behind a crash:", d)
			}
		})
	}
}

// A session that stops keeps outcomes, answers and doubts in the order in which
// they come; the next one delivers the outcomes at once.
func TestWhatComesWhileASessionStopsIsDeliveredTogether(t *testing.T) {
	unsure := func(s *kernel.Scope) error {
		return s.Parallel(3, name, func(i int, s *kernel.Scope) error {
			if i == 1 {
				_, err := kernel.Do(s, kernel.Effect[string]{Name: "w", Class: journal.Write, Perform: func(context.Context, string) (string, error) {
					time.Sleep(20 * time.Second)
					return "", &kernel.UnknownOutcome{Why: &journal.Failure{Code: "timeout", Message: "no answer"}}
				}})
				return err
			}
			if _, err := eff(s, "r", time.Duration(i+1)*10*time.Second); err != nil {
				return err
			}
			_, err := eff(s, "r2", time.Second)
			return err
		})
	}
	answered := 0
	for name, prog := range map[string]func(*kernel.Scope) error{"an answer": asking(900*time.Millisecond, &answered), "a doubt": unsure} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &journal.Memory{RoundTrip: true}
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				if _, err := runWith(ctx, kernel.Options{RunID: "r", Journal: j, Grace: time.Minute}, prog); !errors.Is(err, kernel.ErrSuspended) {
					t.Fatal(err)
				}
				held := 0
				for _, r := range j.Records {
					if r.Deferred {
						held++
					}
				}
				if held != 3 {
					t.Fatalf("%d records were held, want 3: %+v", held, j.Records)
				}
				o := kernel.Options{RunID: "r", Journal: onFile(t, j.Records), Resolve: map[string]string{"b.1/w": `done:"it was paid"`}}
				if _, err := runWith(t.Context(), o, prog); err != nil {
					t.Fatal(err)
				}
				again := kernel.Options{RunID: "r", Journal: o.Journal}
				if st, err := runWith(t.Context(), again, prog); err != nil || st.Performed != 0 {
					t.Fatal(err, st)
				}
			})
		})
	}
}

func TestOnlyAWriteRecordsAnswers(t *testing.T) {
	if err := kernel.RecordAnswer(t.Context(), kernel.Given{Body: []byte(`{}`)}); err == nil {
		t.Fatal("an answer outside of any effect was taken")
	}
}
