package faultserver

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"testing"
)

// Limits of RunInMemory.
const (
	maxPeak = 200 << 10 // peak memory in kB
	workers = 2         // concurrent calls
)

// memoryRun is set in the environment of the measured process.
const memoryRun = "PEX_FAULT_MEMORY"

// RunInMemory makes a call for each slow fault with the transport's own limits, two at a time, in a
// separate process that runs the calling test again. The peak memory of that process must stay
// below 200 MB.
func RunInMemory(t *testing.T, f Format, model Maker) {
	t.Helper()
	switch {
	case os.Getenv(memoryRun) != "":
		flood(t, f, model)
		return
	case underRace:
		t.Skip("the race detector needs several times the memory")
	case runtime.GOOS != "linux":
		t.Skip("the peak is read from /proc")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
	cmd.Env = append(os.Environ(), memoryRun+"=1")
	out, err := cmd.CombinedOutput()
	peak := peakLine.FindSubmatch(out)
	if err != nil || peak == nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	kb, err := strconv.Atoi(string(peak[1]))
	if err != nil || kb > maxPeak {
		t.Errorf("peak memory %d kB, %v", kb, err)
	}
	t.Logf("peak memory %d MB", kb>>10)
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// flood makes the calls and logs the peak memory.
func flood(t *testing.T, f Format, model Maker) {
	t.Helper()
	list := faults(&f)
	s := openEndpoint(t, plain, &f, list)
	m := s.model(t, model, 0)
	plans := matching(list, &f, func(x *fault) bool { return x.slow })
	s.calls(t, m, shuffled(list, plans, len(plans), 1), workers)
	s.close()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", peakLine.Find(status))
}
