package procguard

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pexctl/pex/internal/process"
)

// Enabled says that this process may start itself again as a guard; tests that
// run commands in place do not.
var Enabled bool

// started is the groups that this process has started.
var started groups

// Watch announces a process to come by its mark. It starts the guard before the
// first one.
func Watch(mark string) (watch func(leader int) (release func())) { return started.watch(mark) }

// Serve is the guard: it reads which groups and marks come and go until its
// caller is gone, and ends those that are left.
func Serve(r io.Reader) {
	for _, left := range leftOver(r) {
		if leader, err := strconv.Atoi(left); err == nil {
			endGroup(leader)
		} else {
			process.Sweep(left)
		}
	}
}

// groups tells a guard process which process groups there are.
type groups struct {
	mu   sync.Mutex
	pipe io.Writer // to the guard; nil = none was started
	none bool      // none can be started
}

func (g *groups) watch(mark string) (watch func(leader int) (release func())) {
	g.mu.Lock()
	if g.pipe == nil && !g.none {
		g.pipe, g.none = startGuard()
	}
	g.mu.Unlock()
	g.send("+" + mark)
	return func(leader int) func() {
		group := strconv.Itoa(leader)
		g.send("+" + group)
		return func() { g.send("-" + group); g.send("-" + mark) }
	}
}

func (g *groups) send(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.none {
		fmt.Fprintln(g.pipe, line)
	}
}

// startGuard starts the guard. Without one commands run all the same: only a
// kill -9 may leave something behind then.
func startGuard() (pipe io.Writer, none bool) {
	self, err := os.Executable()
	if err != nil || !Enabled {
		return nil, true
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, true
	}
	defer from.Close()
	cmd := &exec.Cmd{Path: self, Args: []string{os.Args[0], CommandName}, Stdin: from, Env: []string{}, SysProcAttr: NewSession()} // no secrets in its environment
	if cmd.Start() != nil {
		to.Close()
		return nil, true
	}
	return to, false
}

// CommandName is the hidden command that is the guard.
const CommandName = "guard-process-groups"

// leftOver reads which groups and marks came and went, to the end, and gives
// those that are still there, groups by their leaders.
func leftOver(r io.Reader) []string {
	there := map[string]bool{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if came, ok := strings.CutPrefix(lines.Text(), "+"); ok {
			there[came] = true
		} else {
			delete(there, strings.TrimPrefix(lines.Text(), "-"))
		}
	}
	var out []string
	for left := range there {
		leader, err := strconv.Atoi(left)
		if mark := err != nil && strings.HasPrefix(left, process.Marker+"="); mark || leader > 1 {
			out = append(out, left)
		}
	}
	slices.Sort(out)
	return out
}
