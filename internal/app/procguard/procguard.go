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

// Enabled reports whether this process may start itself again as a guard. Tests that run commands in place do not
// set it.
var Enabled bool

// started records the groups that this process started.
var started groups

// Watch announces a process by its mark before it starts. The first call starts the guard.
func Watch(mark string) (watch func(leader int) (release func())) { return started.watch(mark) }

// Serve is the guard. It reads which groups and marks start and end until its parent has exited, and kills the
// remaining ones.
func Serve(r io.Reader) {
	for _, left := range remaining(r) {
		if leader, err := strconv.Atoi(left); err == nil {
			endGroup(leader)
		} else {
			process.Sweep(left)
		}
	}
}

// groups reports process groups to a guard process.
type groups struct {
	mu       sync.Mutex
	pipe     io.Writer // to the guard; nil = not started
	disabled bool      // no guard can be started
}

func (g *groups) watch(mark string) (watch func(leader int) (release func())) {
	g.mu.Lock()
	if g.pipe == nil && !g.disabled {
		g.pipe, g.disabled = startGuard()
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
	if !g.disabled {
		fmt.Fprintln(g.pipe, line)
	}
}

// startGuard starts the guard. Without a guard commands still run, but kill -9 may leave processes behind.
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

// CommandName is the hidden command that runs the guard.
const CommandName = "guard-process-groups"

// remaining reads starts and ends of groups and marks until EOF, and returns those that remain, groups by their
// leaders.
func remaining(r io.Reader) []string {
	there := map[string]bool{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if started, ok := strings.CutPrefix(lines.Text(), "+"); ok {
			there[started] = true
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
