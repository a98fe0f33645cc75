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

// crashes returns servers that hang, crash or do not exit.
func crashes() map[string]Mode {
	silent := func(*server, message) {}
	return map[string]Mode{
		"hang_start": {Doc: "never reads a line", start: func(*server) { sleepForever() }},
		"mute":       {Doc: "reads everything and never responds", on: map[string]func(*server, message){"initialize": silent, "server/discover": silent, "tools/list": silent}},
		"hang_list":  list("never lists its tools", silent),
		"hang_call":  call("never answers a call", silent),
		"hang_call_deaf": call("stops reading when it is called", func(*server, message) {
			sleepForever()
		}),
		"hang_close":  {Doc: "ignores the end of its input and SIGTERM", start: ignoreSignals, end: func(*server) { sleepForever() }},
		"crash_start": {Doc: "exits at once, with a message on stderr", start: func(*server) { exit("no such database") }},
		"exit_start":  {Doc: "exits at once with code 0", start: func(*server) { os.Exit(0) }},
		"crash_list":  list("exits when its tools are listed", func(*server, message) { exit("list") }),
		"crash_call":  call("exits in the middle of a call", func(*server, message) { exit("call") }),
		"crash_answered": call("answers and exits", func(p *server, m message) {
			p.answer(m, text("last words"))
			exit("answered")
		}),
		"half_line": call("exits in the middle of its answer", func(p *server, m message) {
			p.write(result(m.ID, text("half"))[:30])
			exit("half a line")
		}),
		"closes_stdout": call("closes its output and keeps running", func(p *server, _ message) {
			p.out.Close()
			sleepForever()
		}),
		"grandchild":     {Doc: "leaves a process behind, in a separate session", start: startOrphan(true)},
		"grandchild_out": {Doc: "leaves a process behind that keeps its output open", start: startOrphan(false)},
		"slow_loris": call("answers byte by byte, endlessly", func(p *server, _ message) {
			for ; ; time.Sleep(20 * time.Millisecond) {
				p.write(" ")
			}
		}),
	}
}

// sleepForever returns only if the process is killed.
func sleepForever() { time.Sleep(time.Hour); os.Exit(9) }

func exit(word string) {
	fmt.Fprintln(os.Stderr, "mcptest exits:", word)
	os.Exit(7)
}

// ignoreSignals ignores the signals that ask a process to exit.
func ignoreSignals(*server) { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) }

// orphanMode is the mode of the process that a server leaves behind.
const orphanMode = "left_behind"

// startOrphan starts a process in a separate session, so that it is not in a process
// group of the client.
func startOrphan(quiet bool) func(*server) {
	return func(*server) {
		program, err := os.Executable()
		if err != nil {
			exit(err.Error())
		}
		c := exec.Command(program)
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, ModeEnv+"=") {
				c.Env = append(c.Env, v)
			}
		}
		c.Env = append(c.Env, ModeEnv+"="+orphanMode)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if !quiet {
			c.Stdout, c.Stderr = os.Stdout, os.Stderr
		}
		if err := c.Start(); err != nil {
			exit(err.Error())
		}
	}
}
