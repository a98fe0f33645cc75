package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// ledger is an independent witness of what was performed and acknowledged.
type ledger struct{ f *os.File }

func (l ledger) note(kind, key string) {
	if _, err := fmt.Fprintf(l.f, "%s %s\n", kind, key); err != nil {
		panic(err)
	}
}

func (l ledger) model(_ context.Context, key, prompt string) (reply, error) {
	l.note("model", key)
	time.Sleep(rand.N(3 * time.Millisecond))
	return newWorld(0).model(context.Background(), key, prompt)
}

func (l ledger) tool(_ context.Context, key, args string, write bool) (string, error) {
	l.note(map[bool]string{true: "write", false: "read"}[write], key)
	time.Sleep(rand.N(3 * time.Millisecond))
	return newWorld(0).tool(context.Background(), key, args, write)
}

// acknowledging notes each result once its commit is durable.
type acknowledging struct {
	*journal.File
	l ledger
}

func (a acknowledging) Append(rs []journal.Record) (*journal.Ticket, error) {
	var paths []string
	for _, r := range rs {
		if r.Kind == journal.Result {
			paths = append(paths, r.Path)
		}
	}
	t, err := a.File.Append(rs)
	if err == nil && len(paths) > 0 {
		go func() {
			if t.Wait() == nil {
				for _, p := range paths {
					a.l.note("acked", "run1/"+p)
				}
			}
		}()
	}
	return t, err
}

// killed runs until it is done or killed. A write in doubt is decided by the
// ledger: done if it stands there, else again.
func killed(h *journal.Home, dir string) {
	f, err := os.OpenFile(filepath.Join(dir, "ledger"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	l := ledger{f}
	sp := agentSpec{steps: 12, parallel: 4, maxTurns: 4, budget: 1 << 20, worst: 100}
	o := kernel.Options{RunID: "run1", Resolve: map[string]string{}}
	for {
		j, err := openOrCreate(h, "run1")
		if err != nil {
			panic(err)
		}
		o.Journal = acknowledging{j, l}
		var out outcome
		_, err = kernel.Run(context.Background(), o, sp.program(l, &out))
		j.Close()
		var review *kernel.NeedsReview
		if !errors.As(err, &review) {
			if err != nil || len(out.Steps) != sp.steps {
				panic(fmt.Sprint(err, out))
			}
			os.Exit(0)
		}
		for _, w := range review.Writes {
			b, _ := os.ReadFile(f.Name())
			o.Resolve[w.Path] = "redo"
			if strings.Contains(string(b), "write run1/"+w.Path+"\n") {
				o.Resolve[w.Path] = `done:"by hand"`
				l.note("parked", "run1/"+w.Path)
			}
		}
	}
}

// Kill -9 at random times until the run is done: nothing acknowledged is lost
// or runs again, no write runs again by itself. PEX_TEST_KILLS says how often.
func TestKill9(t *testing.T) {
	want := 12
	if testing.Short() {
		want = 3
	}
	if n, err := strconv.Atoi(os.Getenv("PEX_TEST_KILLS")); err == nil {
		want = n
	}
	runs, kills, acked, parked := 0, 0, 0, 0
	for ; kills < want; runs++ {
		dir := t.TempDir()
		kills += killUntilDone(t, dir, []string{"sync", "async", "exit"}[runs%3])
		a, p := checkLedger(t, dir)
		acked, parked = acked+a, parked+p
	}
	t.Logf("%d runs, %d kills, %d acknowledged results, %d writes in doubt", runs, kills, acked, parked)
}

func killUntilDone(t *testing.T, dir, durability string) (kills int) {
	t.Helper()
	for n := 0; ; n++ { // the window widens, or a slow machine never ends
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "PEX_TEST_HOME="+dir, "PEX_TEST_DURABILITY="+durability)
		var out strings.Builder
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(4000+rand.IntN(20_000+3000*n+600*n*n))*time.Microsecond, func() { _ = c.Process.Kill() })
		err := c.Wait()
		timer.Stop()
		if err == nil {
			return kills
		}
		if c.ProcessState.ExitCode() != -1 {
			t.Fatalf("child: %v\n%s", err, out.String())
		}
		kills++
	}
}

func checkLedger(t *testing.T, dir string) (acked, parked int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	done, writes := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(b)) {
		kind, key, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "acked":
			done[key] = true
			acked++
		case "parked":
			parked++
		default:
			if done[key] {
				t.Fatalf("%s was acknowledged and ran again", key)
			}
			if kind == "write" && writes[key] {
				t.Fatalf("write %s was repeated", key)
			}
			writes[key] = writes[key] || kind == "write"
		}
	}
	h, err := journal.OpenHome(dir, journal.Sync)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := h.Read("run1")
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, r := range recs {
		if r.Kind == journal.Result {
			times["run1/"+r.Path]++
		}
	}
	for key := range done {
		if times[key] != 1 {
			t.Fatalf("%s was acknowledged and stands %d times in the journal", key, times[key])
		}
	}
	return acked, parked
}
