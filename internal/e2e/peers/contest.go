package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// contest is one kind of work that the peers do in turns.
type contest struct {
	name       string
	k, runs    int // steps of a run, runs of a turn
	concurrent bool
	entrants   []*entrant
}

// entrant is a peer in a contest.
type entrant struct {
	name   string
	run    func() (string, error)
	counts *counts
	turns  []turn
}

// turn is what was measured while a peer had its turn.
type turn struct {
	walls              []time.Duration // of each run; of all runs if they are concurrent
	total, cpu         time.Duration
	allocs, bytes, max uint64 // max: peak memory of the process in bytes, 0 if unknown
}

// prepare builds the peers and lets each make a few runs, to check and warm them up.
func (c *contest) prepare() error {
	for _, p := range peers {
		e := &entrant{name: p.name, counts: &counts{}}
		var err error
		if e.run, err = p.build(c.k, e.counts); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		c.entrants = append(c.entrants, e)
		if _, err := e.turn(max(c.runs/10, 1), c.k, false); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// play gives each peer a turn. Every round starts with another peer.
func (c *contest) play(w io.Writer, round int) error {
	for i := range c.entrants {
		e := c.entrants[(i+round)%len(c.entrants)]
		t, err := e.turn(c.runs, c.k, c.concurrent)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		e.turns = append(e.turns, t)
		c.report(w, e, t)
	}
	return nil
}

// turn makes a number of runs and measures them.
func (e *entrant) turn(runs, k int, concurrent bool) (turn, error) {
	e.counts.models.Store(0)
	e.counts.tools.Store(0)
	e.counts.chars.Store(0)
	resetPeak()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	t := turn{walls: make([]time.Duration, 0, runs)}
	cpu, began := cpuTime(), time.Now()
	err := e.runAll(runs, concurrent, &t)
	t.total, t.cpu = time.Since(began), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	t.allocs, t.bytes, t.max = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc, peak()
	if err == nil {
		err = e.counts.check(runs, k)
	}
	if err != nil {
		return turn{}, fmt.Errorf("%s: %w", e.name, err)
	}
	return t, nil
}

func (e *entrant) runAll(runs int, concurrent bool, t *turn) error {
	errs := make(chan error, runs)
	one := func() {
		answer, err := e.run()
		if err == nil && answer != total {
			err = fmt.Errorf("the answer is %q, want %q", answer, total)
		}
		errs <- err
	}
	began := time.Now()
	for range runs {
		if concurrent {
			go one()
			continue
		}
		one()
		now := time.Now()
		t.walls, began = append(t.walls, now.Sub(began)), now
	}
	var failed error
	for range runs {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	return failed
}

// report writes a turn in the format of Go benchmarks.
func (c *contest) report(w io.Writer, e *entrant, t turn) {
	runs, steps := float64(c.runs), float64(c.runs*c.k)
	fmt.Fprintf(w, "Benchmark%s/peer=%s-%d\t%d", c.name, e.name, runtime.GOMAXPROCS(0), c.runs)
	if c.concurrent {
		fmt.Fprintf(w, "\t%.0f runs/s\t%.1f MB-peak", runs/t.total.Seconds(), float64(t.max)/1e6)
	} else {
		slices.Sort(t.walls)
		fmt.Fprintf(w, "\t%.0f ns/step\t%.0f min-ns/step", perStep(t.walls[len(t.walls)/2], c.k), perStep(t.walls[0], c.k))
	}
	fmt.Fprintf(w, "\t%.0f cpu-ns/op\t%.1f allocs/step\t%.0f B/step\t%d chars/op\n",
		float64(t.cpu.Nanoseconds())/runs, float64(t.allocs)/steps, float64(t.bytes)/steps, e.counts.chars.Load()/int64(c.runs))
}

func perStep(run time.Duration, k int) float64 { return float64(run.Nanoseconds()) / float64(k) }
