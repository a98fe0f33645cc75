package kernel_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// once performs two effects side by side that are not performed again, and
// notes what became of them.
func once(got []string, perform func(context.Context, string) (string, error)) func(*kernel.Scope) error {
	return func(s *kernel.Scope) error {
		return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
			v, err := kernel.Do(s, kernel.Effect[string]{Name: "e", Class: journal.Read, AtMostOnce: true, Perform: perform})
			if err != nil {
				v = journal.AsFailure(err).Code
			}
			got[i] = v
			return nil
		})
	}
}

func TestWhatASessionDiedInIsNotPerformedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kill := context.WithCancel(t.Context())
		j, got := &journal.Memory{RoundTrip: true}, make([]string, 2)
		var performed atomic.Int32
		dies := func(ctx context.Context, key string) (string, error) {
			if performed.Add(1); key == "r/b.0/e" {
				return "done", nil
			}
			time.Sleep(time.Second)
			kill()
			<-ctx.Done()
			return "", ctx.Err()
		}
		if _, err := runWith(ctx, kernel.Options{RunID: "r", Journal: j}, once(got, dies)); !errors.Is(err, kernel.ErrSuspended) || performed.Load() != 2 {
			t.Fatal(err, performed.Load())
		}
		for range 2 { // and a third session reads what the second decided
			stats, err := runWith(t.Context(), kernel.Options{RunID: "r", Journal: j}, once(got, dies))
			if err != nil || got[0] != "done" || got[1] != kernel.FailureUnknown || stats.Performed != 0 || performed.Load() != 2 {
				t.Fatal(err, got, stats)
			}
		}
	})
}

func TestWhatATimeoutCutStaysCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		prog := func(s *kernel.Scope) error {
			return s.Timeout("t", time.Second, func(s *kernel.Scope) error {
				_, err := kernel.Do(s, kernel.Effect[int]{Name: "e", Class: journal.Read, AtMostOnce: true, Perform: func(ctx context.Context, _ string) (int, error) {
					<-ctx.Done()
					return 0, ctx.Err()
				}})
				return err
			})
		}
		for range 2 {
			if _, err := run(j, prog); !errors.Is(err, kernel.ErrTimeout) {
				t.Fatal(err)
			}
		}
		for cut := 2; cut < len(j.Records); cut++ { // a session that died before the effect, in it, or after its time was over
			k := &journal.Memory{RoundTrip: true, Records: j.Records[:cut:cut]}
			_, err := run(k, prog)
			var f *journal.Failure
			if within := cut == 3; within == errors.Is(err, kernel.ErrTimeout) || within != errors.As(err, &f) {
				t.Errorf("cut at %d: %v", cut, err)
			}
		}
	})
}
