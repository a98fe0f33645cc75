//go:build faults && linux

package crashtest_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// number is a figure from the environment.
func number(t testing.TB, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, text)
	}
	return n
}

// modes are the ways to run the spec that are killed in turn.
var modes = map[string][]string{
	"one by one":               nil,
	"four at once":             {"--set", "executor.max_parallel_steps=4"},
	"synced in the background": {"--set", "memory.durability=async"},
	"synced at the end":        {"--set", "memory.durability=exit", "--set", "executor.max_parallel_steps=4"},
	"with a commit log":        {"PEX_COMMIT_LOG=8192", "--set", "executor.max_parallel_steps=4"}, // as in a server
}

// Kill -9 at random times until the run is done: PEX_CRASH_KILLS says how often
// (500), PEX_FAULTS_SEED repeats the times of an earlier run.
func TestKillsAtRandomTimesLoseAndRepeatNothing(t *testing.T) {
	kills := number(t, "PEX_CRASH_KILLS", 500)
	seed := number(t, "PEX_FAULTS_SEED", int(time.Now().UnixNano()%1e9))
	t.Logf("PEX_FAULTS_SEED=%d", seed)
	var mu sync.Mutex
	var all figures
	began, runs := time.Now(), 0
	t.Run("modes", func(t *testing.T) {
		for name, sets := range modes {
			for lane := range 2 {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					rng := rand.New(rand.NewPCG(uint64(seed), uint64(lane)+uint64(len(name))<<8))
					want := undisturbed(newWorld(t, sets...))
					for sum := 0; sum < (kills+2*len(modes)-1)/(2*len(modes)); {
						w := newWorld(t, sets...)
						if rng.IntN(2) == 0 {
							w.remember()
						}
						w.check(w.untilDone(atRandom(rng)), want)
						w.turns(1)
						sum += w.kills
						mu.Lock()
						all.add(w.figures)
						runs++
						mu.Unlock()
					}
				})
			}
		}
	})
	t.Logf("%d runs, %s; %s", runs, all, time.Since(began).Round(time.Second))
}

// atRandom kills at any time from the start of a process to its end; the window
// widens, or a slow machine never gets done.
func atRandom(rng *rand.Rand) func(int) fate {
	return func(n int) fate {
		window := 120 + 15*n + n*n
		return fate{kill: time.Duration(1000+rng.IntN(1000*window)) * time.Microsecond}
	}
}
