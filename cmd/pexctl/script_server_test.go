//go:build unix

package main

import (
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/pexctl/pex/internal/syncbuffer"
	"github.com/rogpeppe/go-internal/testscript"
)

// serverKey is the key of the *scriptServer of a script.
type serverKey struct{}

// scriptServer is the running server of a script.
type scriptServer struct {
	command *exec.Cmd
	ended   chan struct{}
	output  syncbuffer.Buffer
}

// startServer is `serve arguments...`: it starts pexctl serve on a free port until the end
// of the script, in place of the previous one, and stores its address in $SERVER. `! serve`
// only ends the previous one.
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	start(ts, neg, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...))
}

// startUI is `ui arguments...`: startServer for pexctl ui. Its output until then is in the file ui.log.
func startUI(ts *testscript.TestScript, neg bool, args []string) {
	v := start(ts, neg, append([]string{"ui"}, args...))
	if !neg {
		ts.Check(os.WriteFile(ts.MkAbs("ui.log"), []byte(v.output.String()), 0o600))
	}
}

// start starts a server with arguments, in place of the previous one, and waits until it listens.
func start(ts *testscript.TestScript, neg bool, args []string) *scriptServer {
	v, ok := ts.Value(serverKey{}).(*scriptServer)
	if !ok {
		ts.Fatalf("no server of the script")
	}
	if v.stop(); neg {
		return v
	}
	pexctl, err := exec.LookPath("pexctl")
	ts.Check(err)
	*v = scriptServer{command: exec.Command(pexctl, args...), ended: make(chan struct{})}
	v.command.Dir, v.command.Stderr = ts.MkAbs("."), &v.output
	v.command.Env = append(os.Environ(), "PEX_HOME="+ts.Getenv("PEX_HOME"), noSleep)
	ts.Check(v.command.Start())
	go func() {
		_ = v.command.Wait() // its output says why
		close(v.ended)
	}()
	ts.Defer(v.stop)
	for {
		if m := regexp.MustCompile(`(?m)^Serving .* on (http://\S+)$`).FindStringSubmatch(v.output.String()); m != nil {
			ts.Setenv("SERVER", m[1])
			return v
		}
		select {
		case <-v.ended:
			ts.Fatalf("pexctl %s has ended:\n%s", args[0], v.output.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (v *scriptServer) stop() {
	if v.command == nil {
		return
	}
	_ = v.command.Process.Signal(syscall.SIGTERM) // it may have ended
	<-v.ended
	v.command = nil
}
