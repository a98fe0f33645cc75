//go:build faults && linux

package crashtest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
)

// passings are the passings of a point at which a session is killed. One that
// does not come there so often ends in peace.
var passings = []int{1, 2, 6, 30}

// deaths is how often in a row a run dies at a point before it is left in peace.
const deaths = 3

// beginnings are the lives that a run may have had when it comes to a point:
// none, and one that left behind it what a recovery has to deal with.
var beginnings = map[string]string{
	"fresh":    "",
	"torn":     string(failpoint.CommitHalf) + ":12",
	"in doubt": string(failpoint.EffectAfter) + ":20",
}

// Kill -9 at every named point: at its first passing and at later ones, in a
// fresh run and in one that recovers, again and again.
func TestKillsAtEveryPointLoseAndRepeatNothing(t *testing.T) {
	for _, mode := range []string{"four at once", "with a commit log"} {
		t.Run(mode, func(t *testing.T) { killAtEveryPoint(t, modes[mode]) })
	}
}

func killAtEveryPoint(t *testing.T, sets []string) {
	want := undisturbed(newWorld(t, sets...))
	var mu sync.Mutex
	var all figures
	began := time.Now()
	t.Run("points", func(t *testing.T) {
		for _, p := range failpoint.Points {
			t.Run(string(p), func(t *testing.T) {
				t.Parallel()
				died := 0
				for name, first := range beginnings {
					for _, n := range passings {
						w := newWorld(t, sets...)
						w.remember()
						w.check(w.untilDone(diesAt(p, n, first)), want)
						w.turns(1)
						died += w.kills
						if first != "" {
							died-- // that was elsewhere
						}
						if died < 0 {
							w.fatal("%s: the run did not die at %s", name, first)
						}
						mu.Lock()
						all.add(w.figures)
						mu.Unlock()
					}
				}
				if died == 0 {
					t.Fatal("no run came to this point")
				}
			})
		}
	})
	t.Logf("%d points: %s; %s", len(failpoint.Points), all, time.Since(began).Round(time.Second))
}

// diesAt has a run die at the n-th passing of a point, in several sessions one
// after the other. First is where it died before that.
func diesAt(p failpoint.Point, n int, first string) func(int) fate {
	suspends := strings.HasPrefix(string(p), "suspend-")
	return func(session int) fate {
		if first != "" && session == 0 {
			return fate{at: first}
		}
		if first != "" {
			session--
		}
		if session >= deaths {
			return fate{}
		}
		f := fate{at: fmt.Sprintf("%s:%d", p, n)}
		if suspends {
			f.term = time.Duration(60+30*n+20*session) * time.Millisecond
		}
		return f
	}
}
