package main

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

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/process"
)

// A process that is killed cannot end what it has started, and neither can the
// kernel do it for the children of its children. So the first command that a
// run starts brings a guard with it: another process of ours, told which groups
// there are, that sees our end by the end of a pipe and kills what is left.

// guarding says that this process may start itself again as a guard; tests that
// run commands in place do not.
var guarding bool

// started is the groups that this process has started.
var started groups

// groups tells a guard process which process groups there are.
type groups struct {
	mu   sync.Mutex
	pipe io.Writer // to the guard; nil = none was started
	none bool      // none can be started
}

// ready has a guard started, and tells it the mark of a process to come.
func (g *groups) ready(mark string) (watch func(leader int) (release func())) {
	g.mu.Lock()
	if g.pipe == nil && !g.none {
		g.pipe, g.none = startGuard()
	}
	g.mu.Unlock()
	g.tell("+" + mark)
	return func(leader int) func() {
		group := strconv.Itoa(leader)
		g.tell("+" + group)
		return func() { g.tell("-" + group); g.tell("-" + mark) }
	}
}

func (g *groups) tell(line string) {
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
	if err != nil || !guarding {
		return nil, true
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, true
	}
	defer from.Close()
	cmd := &exec.Cmd{Path: self, Args: []string{os.Args[0], guardCommandName}, Stdin: from, Env: []string{}, SysProcAttr: apart()} // no secrets in its environment
	if cmd.Start() != nil {
		to.Close()
		return nil, true
	}
	return to, false
}

const guardCommandName = "guard-process-groups"

func guardCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: guardCommandName, Usage: "end process groups when whoever started this is gone", Hidden: true,
		Action: env.Action(func(c *ui.Call) error {
			for _, left := range leftOver(c.Stdin) {
				if leader, err := strconv.Atoi(left); err == nil {
					endGroup(leader)
				} else {
					process.Sweep(left)
				}
			}
			return nil
		}),
	}
}

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
