//go:build unix

package mcptest

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// deaths are servers that hang, die, or do not.
func deaths() map[string]Mode {
	silent := func(*peer, message) {}
	return map[string]Mode{
		"hang_start": {Doc: "never reads a line", start: func(*peer) { forever() }},
		"mute":       {Doc: "reads all and answers nothing", on: map[string]func(*peer, message){"initialize": silent, "server/discover": silent, "tools/list": silent}},
		"hang_list":  list("never says what tools it has", silent),
		"hang_call":  call("never answers a call", silent),
		"hang_call_deaf": call("reads no more once it is called", func(*peer, message) {
			forever()
		}),
		"hang_close":  {Doc: "ignores that its input has ended, and SIGTERM", start: stubborn, end: func(*peer) { forever() }},
		"crash_start": {Doc: "dies at once, with a word on stderr", start: func(*peer) { die("no such database") }},
		"exit_start":  {Doc: "ends at once and well", start: func(*peer) { os.Exit(0) }},
		"crash_list":  list("dies when it is asked for its tools", func(*peer, message) { die("list") }),
		"crash_call":  call("dies in the middle of a call", func(*peer, message) { die("call") }),
		"crash_answered": call("answers and dies", func(p *peer, m message) {
			p.answer(m, text("last words"))
			die("answered")
		}),
		"half_line": call("dies in the middle of its answer", func(p *peer, m message) {
			p.raw(result(m.ID, text("half"))[:30])
			die("half a line")
		}),
		"closes_stdout": call("closes its output and lives on", func(p *peer, _ message) {
			p.out.Close()
			forever()
		}),
		"grandchild":     {Doc: "leaves a process behind in a session of its own", start: leave(true)},
		"grandchild_out": {Doc: "leaves one behind that holds its output open", start: leave(false)},
		"slow_loris": call("answers a byte at a time, for ever", func(p *peer, _ message) {
			for ; ; time.Sleep(20 * time.Millisecond) {
				p.raw(" ")
			}
		}),
	}
}

// forever ends only by a signal.
func forever() { time.Sleep(time.Hour); os.Exit(9) }

func die(word string) {
	fmt.Fprintln(os.Stderr, "mcptest dies:", word)
	os.Exit(7)
}

// stubborn ignores what asks it to end.
func stubborn(*peer) { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) }

// leftBehind is the mode of a process that a server leaves behind.
const leftBehind = "left_behind"

// leave starts a process in a session of its own, which therefore is in no
// group of the client's.
func leave(quiet bool) func(*peer) {
	return func(*peer) {
		program, err := os.Executable()
		if err != nil {
			die(err.Error())
		}
		c := exec.Command(program)
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, ModeEnv+"=") {
				c.Env = append(c.Env, v)
			}
		}
		c.Env = append(c.Env, ModeEnv+"="+leftBehind)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if !quiet {
			c.Stdout, c.Stderr = os.Stdout, os.Stderr
		}
		if err := c.Start(); err != nil {
			die(err.Error())
		}
	}
}
