package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// writeSteps writes the table of the runs that were made one by one.
func writeSteps(w io.Writer, contests []*contest) {
	fmt.Fprint(w, "\n| k | peer | µs per step, median | min | CPU per run, µs | allocations per step | KB per step | prompt characters per run |\n")
	fmt.Fprint(w, "| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range contests {
		for _, e := range c.entrants {
			var walls []time.Duration
			for _, t := range e.turns {
				walls = append(walls, t.walls...)
			}
			slices.Sort(walls)
			steps := float64(c.k * len(walls))
			fmt.Fprintf(w, "| %d | %s | %.1f | %.1f | %.0f | %.1f | %.1f | %d |\n", c.k, e.name,
				perStep(walls[len(walls)/2], c.k)/1e3, perStep(walls[0], c.k)/1e3, e.cpuPerRun(c.runs),
				e.sum(func(t turn) uint64 { return t.allocs })/steps, e.sum(func(t turn) uint64 { return t.bytes })/steps/1e3,
				e.counts.chars.Load()/int64(c.runs))
		}
	}
}

// writeConcurrent writes the table of the runs that were made at once.
func writeConcurrent(w io.Writer, c *contest) {
	fmt.Fprintf(w, "\n| %d runs of %d steps at once | runs/s, median | max | CPU per run, µs | peak memory, MB |\n", c.runs, c.k)
	fmt.Fprint(w, "| --- | --- | --- | --- | --- |\n")
	for _, e := range c.entrants {
		var rates, peaks []float64
		for _, t := range e.turns {
			rates, peaks = append(rates, float64(c.runs)/t.total.Seconds()), append(peaks, float64(t.max)/1e6)
		}
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.0f |\n", e.name, median(rates), slices.Max(rates), e.cpuPerRun(c.runs), median(peaks))
	}
}

// cpuPerRun returns the median CPU time of a run in microseconds.
func (e *entrant) cpuPerRun(runs int) float64 {
	var all []float64
	for _, t := range e.turns {
		all = append(all, float64(t.cpu.Microseconds())/float64(runs))
	}
	return median(all)
}

func (e *entrant) sum(of func(turn) uint64) float64 {
	var n uint64
	for _, t := range e.turns {
		n += of(t)
	}
	return float64(n)
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
