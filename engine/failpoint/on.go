//go:build faults

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// On says whether this build has failpoints.
const On = true

// armed is what the environment asks for, and how many passings are left.
var armed = arm(os.Getenv("PEX_FAILPOINT"), os.Getenv("PEX_FAILPOINTS_PASSED"))

type trap struct {
	point Point
	left  atomic.Int64
	log   *os.File
}

// arm panics on a wish that it cannot fulfil: a test that kills nothing proves
// nothing.
func arm(wish, log string) *trap {
	t := &trap{}
	name, count, counted := strings.Cut(wish, ":")
	t.point = Point(name)
	t.left.Store(1)
	if counted {
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 1 {
			panic("PEX_FAILPOINT=" + wish + ": write NAME or NAME:N")
		}
		t.left.Store(n)
	}
	if log != "" {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(fmt.Sprint("PEX_FAILPOINTS_PASSED: ", err))
		}
		t.log = f
	}
	return t
}

// At is a moment at which a run may die: it does when the environment names it.
func At(p Point) {
	if armed.log != nil {
		_, _ = armed.log.WriteString(string(p) + "\n")
	}
	if p == armed.point && armed.left.Add(-1) == 0 {
		die()
	}
}

// die ends the process at once, whatever it is at.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err == nil {
		select {} // the signal is on its way
	}
	panic(fmt.Sprint("failpoint: ", err))
}

// Armed says whether this process watches for a point: it dies there, or notes
// what it passes.
func Armed(p Point) bool { return armed.point == p || armed.log != nil }
