package kernel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// What a session does with a task whose worker has ended depends on what repeating it would do.
func TestLostTasks(t *testing.T) {
	for _, tc := range []struct {
		name string
		e    kernel.Effect[int]
		lost int // how often the task is lost
		code string
		want int // attempts that a worker began
	}{
		{"a read is repeated", kernel.Effect[int]{Class: journal.Read}, 2, "", 3},
		{"an idempotent effect is repeated", kernel.Effect[int]{Class: journal.Idempotent}, 1, "", 2},
		{"not for ever", kernel.Effect[int]{Class: journal.Read}, 9, kernel.FailureUnknown, 3},
		{"what is performed at most once fails", kernel.Effect[int]{Class: journal.Read, AtMostOnce: true}, 9, kernel.FailureUnknown, 1},
		{"a write needs a decision", kernel.Effect[int]{Class: journal.Write}, 9, "review", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			begun, keys := 0, map[string]bool{}
			w := &enginetest.World{Perform: func(task kernel.Task) kernel.Outcome {
				begun++
				keys[task.Key()] = true
				if task.Attempt() != begun {
					t.Errorf("attempt %d, want %d", task.Attempt(), begun)
				}
				if begun <= tc.lost {
					return kernel.Outcome{Lost: true}
				}
				return task.Perform()
			}}
			j := &journal.Memory{}
			e := tc.e
			e.Name, e.Perform = "e", func(context.Context, string) (int, error) { return 7, nil }
			main := func(s *kernel.Scope, _ []byte) error {
				v, err := kernel.Do(s, e)
				if err == nil && v != 7 {
					t.Errorf("result %d", v)
				}
				return err
			}
			_, err := kernel.Run(t.Context(), kernel.Options{RunID: "r", Start: []byte("{}"), Journal: j, World: w, Virtual: true}, main)
			code := ""
			if f, ok := errors.AsType[*journal.Failure](err); ok {
				code = f.Code
			}
			if _, ok := errors.AsType[*kernel.NeedsReview](err); ok {
				code = "review"
			}
			if code != tc.code || begun != tc.want || len(keys) != 1 || code == "" && err != nil {
				t.Fatalf("%d attempts with %d keys, %v", begun, len(keys), err)
			}
			// A replay reads the same.
			_, again := kernel.Run(t.Context(), kernel.Options{RunID: "r", Journal: j, World: &enginetest.World{}, Virtual: true}, main)
			if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
				t.Errorf("a replay ends with %v, not %v", again, err)
			}
			if begun != tc.want {
				t.Error("a replay performed it")
			}
		})
	}
}

// Other bytes than those of an outcome are refused.
func FuzzOutcome(f *testing.F) {
	for _, o := range []kernel.Outcome{{}, {Status: journal.Failed, Encoded: true, Body: []byte(`{"code":"x"}`)}, {Unknown: []byte("{}"), Notes: []byte("{}")}, {Lost: true}} {
		b, err := o.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var o kernel.Outcome
		if err := o.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, kernel.ErrOutcomeFormat) {
				t.Error(err)
			}
			return
		}
		again, err := o.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var o2 kernel.Outcome
		if err := o2.UnmarshalBinary(again); err != nil || string(o2.Body) != string(o.Body) || string(o2.Unknown) != string(o.Unknown) || o2.Lost != o.Lost {
			t.Errorf("%v: %v is %v", err, o, o2)
		}
	})
}
