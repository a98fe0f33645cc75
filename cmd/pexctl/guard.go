package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"
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

// ready has a guard started, before there is anything to guard.
func (g *groups) ready() (watch func(leader int) (release func())) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe == nil && !g.none {
		g.pipe, g.none = startGuard()
	}
	return g.watch
}

// watch has a group ended if this process is killed.
func (g *groups) watch(leader int) (release func()) {
	g.tell("+%d\n", leader)
	return func() { g.tell("-%d\n", leader) }
}

func (g *groups) tell(format string, leader int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.none {
		fmt.Fprintf(g.pipe, format, leader)
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
	cmd := &exec.Cmd{Path: self, Args: []string{os.Args[0], guardCommandName}, Stdin: from, SysProcAttr: apart()}
	if cmd.Start() != nil {
		to.Close()
		return nil, true
	}
	return to, false
}

const guardCommandName = "guard-process-groups"

func guardCommand() *cli.Command {
	return &cli.Command{
		Name: guardCommandName, Usage: "end process groups when whoever started this is gone", Hidden: true,
		Action: func(c *cli.Context) error {
			for _, leader := range leftOver(c.App.Reader) {
				endGroup(leader)
			}
			return nil
		},
	}
}

// leftOver reads which groups came and went, to the end, and gives those that
// are still there.
func leftOver(r io.Reader) []int {
	there := map[int]bool{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		came, isNew := strings.CutPrefix(lines.Text(), "+")
		leader, err := strconv.Atoi(strings.TrimPrefix(came, "-"))
		switch {
		case err != nil || leader <= 1:
		case isNew:
			there[leader] = true
		default:
			delete(there, leader)
		}
	}
	var out []int
	for leader := range there {
		out = append(out, leader)
	}
	return out
}
