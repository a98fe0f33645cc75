package doctest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/pexctl/pex/internal/syncbuffer"
)

// shownAddress is the address of the server in pages. Their commands reach the server that the page has started.
const shownAddress = "127.0.0.1:8484"

// serveCommand starts a server in the background.
const serveCommand = "pexctl serve"

// startsServer matches commands that start a server, also with environment variables.
var startsServer = regexp.MustCompile(`^([A-Z_]+=(\$\([^)]*\)|\S+) )*pexctl serve( |$)`)

// isServe reports whether a command starts a server.
func isServe(command string) bool {
	return startsServer.MatchString(command) && !strings.Contains(command, serveCommand+" token")
}

// shownReceiver matches the address of a receiver of webhooks in pages, also in the form of Python. The receivers of
// a page listen on a free port.
var shownReceiver = regexp.MustCompile(`(127\.0\.0\.1(?::|", ))9000\b`)

// local replaces the address of a receiver in a file or command by one that nothing else uses.
func (s *shell) local(text string) string {
	if !shownReceiver.MatchString(text) {
		return text
	}
	if s.receiver == 0 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.t.Fatal(err)
		}
		s.receiver = l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
	}
	return shownReceiver.ReplaceAllString(text, fmt.Sprintf("${1}%d", s.receiver))
}

// server is a running pexctl serve.
type server struct {
	command *exec.Cmd
	address string // host:port
	output  syncbuffer.Buffer
	ended   chan struct{} // closed when the process has ended
}

// serve starts a server on a free port, in place of the previous one, and returns its output until it is ready. It
// runs until the page ends.
func (s *shell) serve(command string) (string, error) {
	s.stopServer()
	v := &server{ended: make(chan struct{})}
	v.command = s.process("exec env "+strings.Replace(command, serveCommand, serveCommand+" --listen 127.0.0.1:0", 1), nil)
	v.command.Stdout, v.command.Stderr = &v.output, &v.output
	if err := v.command.Start(); err != nil {
		return "", err
	}
	go func() {
		_ = v.command.Wait() // its output says why
		close(v.ended)
	}()
	s.server = v
	for !v.isReady() {
		select {
		case <-v.ended:
			s.server = nil
			return "", fmt.Errorf("%s has ended:\n%s", command, &v.output)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return s.forReaders(v.output.String()), nil
}

var serving = regexp.MustCompile(`(?m)^Serving .* on http://(\S+)$`)

// isReady reports whether the server accepts requests.
func (v *server) isReady() bool {
	m := serving.FindStringSubmatch(v.output.String())
	if m == nil {
		return false
	}
	v.address = m[1]
	r, err := http.Get("http://" + v.address + "/readyz")
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body) // only the status matters
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// stopServer ends the server like Ctrl-C, and waits for it.
func (s *shell) stopServer() {
	if s.server == nil {
		return
	}
	_ = s.server.command.Process.Signal(syscall.SIGTERM) // it may have ended
	<-s.server.ended
	s.server = nil
}
