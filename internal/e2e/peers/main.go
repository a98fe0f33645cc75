package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	_ "github.com/pexctl/pex/internal/gctune" // as in pexctl; the peers share the process, so it applies to all
)

// lengths are the numbers of steps of the runs that are measured one by one.
var lengths = []int{5, 20, 40}

func main() {
	rounds := flag.Int("rounds", 7, "rounds; in each, every peer has a turn")
	runs := flag.Int("runs", 200, "runs of 5 steps in a turn; longer ones are fewer")
	atOnce := flag.Int("concurrent", 1000, "runs of 5 steps at once")
	flag.Parse()
	if err := compare(os.Stdout, *rounds, *runs, *atOnce); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// compare measures all peers and writes the results.
func compare(w io.Writer, rounds, runs, atOnce int) error {
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: github.com/pexctl/pex/internal/e2e/peers\n", runtime.GOOS, runtime.GOARCH)
	fmt.Fprintln(w, load())
	var contests []*contest
	for _, k := range lengths {
		contests = append(contests, &contest{name: fmt.Sprintf("PER/k=%d", k), k: k, runs: max(runs*5/k, 1)})
	}
	contests = append(contests, &contest{name: fmt.Sprintf("Concurrent/runs=%d", atOnce), k: 5, runs: atOnce, concurrent: true})
	for _, c := range contests {
		if err := c.prepare(); err != nil {
			return err
		}
	}
	for round := range rounds {
		for _, c := range contests {
			if err := c.play(w, round); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w, "\n%s, GOMAXPROCS=%d, %s\n", runtime.Version(), runtime.GOMAXPROCS(0), load())
	last := contests[len(contests)-1]
	writeSteps(w, contests[:len(contests)-1])
	writeConcurrent(w, last)
	return nil
}

// load returns the load of the machine.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "Load: unknown"
	}
	return "Load: " + strings.Join(strings.Fields(string(text))[:3], " ")
}
