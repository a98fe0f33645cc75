package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// twoQuestions asks in two branches and gives the answers.
func twoQuestions(out *[]string) func(*kernel.Scope) error {
	return func(s *kernel.Scope) error {
		*out = nil
		return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
			v, err := kernel.Ask[string](s, kernel.Question{
				Name: "approve", Digest: digest("q"), Request: func() []byte { return fmt.Appendf(nil, `{"n":%d}`, i) },
			})
			*out = append(*out, fmt.Sprint(i, v))
			return err
		})
	}
}

func TestQuestionsParkAndAreAnsweredLater(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	var out []string
	var parked *kernel.Parked
	_, err := run(j, twoQuestions(&out))
	if !errors.As(err, &parked) || !errors.Is(err, kernel.ErrInterrupted) {
		t.Fatal(err)
	}
	want := []kernel.Open{{Path: "b.0/approve", Request: []byte(`{"n":0}`)}, {Path: "b.1/approve", Request: []byte(`{"n":1}`)}}
	if d := cmp.Diff(want, parked.Questions); d != "" || !strings.Contains(err.Error(), "b.0/approve, b.1/approve") {
		t.Fatal(d, err)
	}
	n := len(j.Records)
	if _, err := run(j, twoQuestions(&out)); !errors.As(err, &parked) || len(j.Records) != n {
		t.Fatal("parking again added records:", err, len(j.Records)-n)
	}
	o := kernel.Options{RunID: "r", Journal: j, Answers: map[string]json.RawMessage{"b.1/approve": json.RawMessage(`"yes"`)}}
	if _, err := runWith(t.Context(), o, twoQuestions(&out)); !errors.As(err, &parked) || len(parked.Questions) != 1 {
		t.Fatal(err)
	}
	o.Answers = map[string]json.RawMessage{"b.0/approve": json.RawMessage(`"no"`), "b.1/approve": json.RawMessage(`"a second decision"`)}
	for range 2 {
		if _, err := runWith(t.Context(), o, twoQuestions(&out)); err != nil || !slices.Equal(out, []string{"1yes", "0no"}) {
			t.Fatal(err, out)
		}
	}
}

func TestQuestionsAreAskedInPlaceOneAtATime(t *testing.T) {
	for _, virtual := range []bool{false, true} {
		asking, asked := 0, 0
		o := kernel.Options{RunID: "r", Journal: &journal.Memory{RoundTrip: true}, Virtual: virtual}
		o.Ask = func(_ context.Context, path string, request []byte) (kernel.Given, error) {
			if asking++; asking > 1 {
				t.Error("two questions at once")
			}
			defer func() { asking-- }()
			asked++
			body, err := json.Marshal(path + string(request))
			return kernel.Given{Body: body}, err
		}
		var out []string
		if _, err := runWith(t.Context(), o, twoQuestions(&out)); err != nil || !slices.Equal(out, []string{`0b.0/approve{"n":0}`, `1b.1/approve{"n":1}`}) {
			t.Fatal(err, out)
		}
		if _, err := runWith(t.Context(), o, twoQuestions(&out)); err != nil || asked != 2 {
			t.Fatal("an answered question was asked again:", err)
		}
	}
}

// All questions are pending at once, are answered in any order by different people, and are
// reported as decided only once the decision is durable.
func TestAllQuestionsAreAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := openRun(t, journal.Sync)
		delays := map[string]time.Duration{"b.0/approve": 2 * time.Second, "b.1/approve": time.Second}
		var out, decided []string
		o := kernel.Options{RunID: "r", Journal: j, AskAll: true, By: json.RawMessage(`"session"`)}
		o.Ask = func(_ context.Context, path string, _ []byte) (kernel.Given, error) {
			time.Sleep(delays[path])
			g := kernel.Given{Body: json.RawMessage(`"yes"`)}
			if path == "b.1/approve" {
				g.By = json.RawMessage(`"ann"`)
			}
			return g, nil
		}
		o.Decided = func(path string) { decided = append(decided, path) }
		began := time.Now()
		if _, err := runWith(t.Context(), o, twoQuestions(&out)); err != nil || time.Since(began) != 2*time.Second {
			t.Fatal(err, time.Since(began))
		}
		if want := []string{"b.1/approve", "b.0/approve"}; !slices.Equal(decided, want) || !slices.Equal(out, []string{"1yes", "0yes"}) {
			t.Error(decided, out)
		}
		by := map[string]string{}
		o.Ask, o.OnDecision = nil, func(d kernel.Decision) { by[d.Record.Path] = string(d.Record.By) }
		if _, err := runWith(t.Context(), o, twoQuestions(&out)); err != nil || by["b.1/approve"] != `"ann"` || by["b.0/approve"] != `"session"` {
			t.Error(err, by)
		}
	})
}

func TestAQuestionNobodyAnswersInPlaceStaysOpen(t *testing.T) {
	for label, answer := range map[string]func() (json.RawMessage, error){
		"error":    func() (json.RawMessage, error) { return nil, errors.New("EOF") },
		"nil":      func() (json.RawMessage, error) { return nil, nil },
		"not JSON": func() (json.RawMessage, error) { return json.RawMessage(`yes`), nil },
	} {
		for _, virtual := range []bool{false, true} {
			t.Run(fmt.Sprint(label, virtual), func(t *testing.T) {
				n := 0
				o := kernel.Options{Journal: &journal.Memory{}, Virtual: virtual, Ask: func(context.Context, string, []byte) (kernel.Given, error) {
					n++
					body, err := answer()
					return kernel.Given{Body: body}, err
				}}
				var out []string
				var parked *kernel.Parked
				if _, err := runWith(t.Context(), o, twoQuestions(&out)); !errors.As(err, &parked) || len(parked.Questions) != 2 || n != 2 {
					t.Fatal(err, n)
				}
			})
		}
	}
}

// A session that waits for an answer in vain is as long as its work.
func TestTimeSpentAskingInVainIsNotActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := kernel.Options{Journal: &journal.Memory{}, Ask: func(context.Context, string, []byte) (kernel.Given, error) {
			time.Sleep(30 * time.Second)
			return kernel.Given{}, nil
		}}
		var out []string
		var parked *kernel.Parked
		if stats, err := runWith(t.Context(), o, twoQuestions(&out)); !errors.As(err, &parked) || stats.Active >= 30*time.Second {
			t.Error(err, stats.Active)
		}
	})
}

// Other branches go on while a person thinks; a step's timeout keeps nobody waiting.
func TestARunParksOnlyWhenNothingElseIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		worked := false
		began := time.Now()
		_, err := run(&journal.Memory{}, func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
				if i == 1 {
					_, err := eff(s, "work", time.Minute)
					worked = true
					return err
				}
				return s.Timeout("t", time.Hour, func(s *kernel.Scope) error { _, err := kernel.Ask[bool](s, kernel.Question{Name: "q"}); return err })
			})
		})
		if !errors.Is(err, kernel.ErrInterrupted) || !worked || time.Since(began) != time.Minute {
			t.Fatal(err, worked, time.Since(began))
		}
	})
}

// The time that a run took is that of its sessions, also for who looks at it later.
func TestAParkedRunKnowsHowLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		for range 3 {
			stats, err := run(j, func(s *kernel.Scope) error {
				if _, err := eff(s, "work", time.Minute); err != nil {
					return err
				}
				_, err := kernel.Ask[bool](s, kernel.Question{Name: "q"})
				return err
			})
			if !errors.Is(err, kernel.ErrInterrupted) || stats.Active != time.Minute {
				t.Fatal(err, stats)
			}
			time.Sleep(time.Hour) // while nobody runs it
		}
	})
}

func TestWritesInDoubtAreDecidedByAPerson(t *testing.T) {
	performed := 0
	var got string
	prog := func(s *kernel.Scope) error {
		v, err := kernel.Do(s, kernel.Effect[string]{
			Name: "w", Class: journal.Write, Request: func() []byte { return []byte(`{"to":"x"}`) },
			Perform: func(context.Context, string) (string, error) { performed++; return "live", nil },
		})
		var f *journal.Failure
		if got = v; errors.As(err, &f) {
			got = f.Code
			err = nil
		}
		if _, again := kernel.Do(s, kernel.Effect[string]{Name: "w2", Class: journal.Write, Perform: func(context.Context, string) (string, error) { return "", nil }}); err == nil {
			err = again
		}
		return err
	}
	full := &journal.Memory{RoundTrip: true}
	if _, err := run(full, prog); err != nil {
		t.Fatal(err)
	}
	killed := full.Records[:2] // start, intent
	for how, want := range map[string]struct {
		got       string
		performed int
	}{"redo": {"live", 1}, "skip": {"skipped", 0}, `done:"by hand"`: {"by hand", 0}} {
		t.Run(how, func(t *testing.T) {
			performed = 0
			j := &journal.Memory{Records: slices.Clone(killed), RoundTrip: true}
			var review *kernel.NeedsReview
			if _, err := run(j, prog); !errors.As(err, &review) || review.Path != "w" || string(review.Writes[0].Request) != `{"to":"x"}` || len(j.Records) != 2 {
				t.Fatal(err)
			}
			o := kernel.Options{RunID: "r", Journal: j, Resolve: map[string]string{"w": how}}
			for range 2 {
				if _, err := runWith(t.Context(), o, prog); err != nil || got != want.got || performed != want.performed {
					t.Fatal(err, got, performed)
				}
			}
		})
	}
}

func TestUnknownResolutionsAreRefused(t *testing.T) {
	for _, how := range []string{"", "done", "done:", "done:{", "yes"} {
		_, err := runWith(t.Context(), kernel.Options{Journal: &journal.Memory{}, Resolve: map[string]string{"w": how}}, func(*kernel.Scope) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "use done:<json>, redo or skip") {
			t.Errorf("%q: %v", how, err)
		}
	}
}

// What was emitted before a question is told before a person is asked, also where
// a sink is slow.
func TestAQuestionFollowsWhatWasEmittedBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out []string
		prog := func(s *kernel.Scope) error {
			s.Emit(func() {
				time.Sleep(time.Second)
				out = append(out, "told")
			})
			_, err := kernel.Ask[bool](s, kernel.Question{Name: "q"})
			return err
		}
		o := kernel.Options{RunID: "r", Journal: openRun(t, journal.Sync)}
		o.Ask = func(context.Context, string, []byte) (kernel.Given, error) {
			out = append(out, "asked")
			return kernel.Given{Body: json.RawMessage("true")}, nil
		}
		if _, err := runWith(t.Context(), o, prog); err != nil || !slices.Equal(out, []string{"told", "asked"}) {
			t.Error(err, out)
		}
	})
}
