//go:build faults

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// On reports whether this build has failpoints.
const On = true

// armed is the failpoint selected by the environment, with the remaining passes.
var armed = arm(os.Getenv("PEX_FAILPOINT"), os.Getenv("PEX_FAILPOINTS_PASSED"))

type trap struct {
	point Point
	left  atomic.Int64
	log   *os.File
}

// arm panics if the environment is invalid: a test that kills nothing proves nothing.
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

// At kills the process if the environment selects this point.
func At(p Point) {
	if armed.log != nil {
		_, _ = armed.log.WriteString(string(p) + "\n")
	}
	if p == armed.point && armed.left.Add(-1) == 0 {
		die()
	}
}

// die kills the process at once.
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

// Enabled reports whether this process dies at a point, or logs the points it passes.
func Enabled(p Point) bool { return armed.point == p || armed.log != nil }
