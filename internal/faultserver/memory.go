package faultserver

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"testing"
)

// Peak memory of a process whose calls meet what does not end.
const (
	maxPeak = 200 << 10 // kB
	crowd   = 2         // calls at once
)

// memoryRun is set in the environment of the process that is measured.
const memoryRun = "PEX_CHAOS_MEMORY"

// RunInMemory meets each fault that is dear with the transport's own bounds, two
// calls at once, in a process of its own: it runs the calling test again. That
// process stays below 200 MB at its peak.
func RunInMemory(t *testing.T, f Format, model Maker) {
	t.Helper()
	switch {
	case os.Getenv(memoryRun) != "":
		flood(t, f, model)
		return
	case raced:
		t.Skip("the race detector takes several times the memory")
	case runtime.GOOS != "linux":
		t.Skip("the peak is read from /proc")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
	cmd.Env = append(os.Environ(), memoryRun+"=1")
	out, err := cmd.CombinedOutput()
	peak := peaked.FindSubmatch(out)
	if err != nil || peak == nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	kb, err := strconv.Atoi(string(peak[1]))
	if err != nil || kb > maxPeak {
		t.Errorf("a peak of %d kB, %v", kb, err)
	}
	t.Logf("a peak of %d MB", kb>>10)
}

var peaked = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// flood makes the calls, and logs the peak.
func flood(t *testing.T, f Format, model Maker) {
	t.Helper()
	list := faults(&f)
	s := open(t, plain, &f, list)
	m := s.model(t, model, 0)
	plans := matching(list, &f, func(x *fault) bool { return x.dear })
	s.calls(t, m, shuffled(list, plans, len(plans), 1), crowd)
	s.close()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", peaked.Find(status))
}
