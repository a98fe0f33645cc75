//go:build unix

package clients

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/e2e"
)

// Server is a pexctl serve with a home of its own. Restart stops it and starts it again.
type Server struct {
	URL     string
	t       testing.TB
	program string
	dir     string
	address string
	cmd     *exec.Cmd
	log     bytes.Buffer // complete once the process has ended
}

// Serve starts pexctl serve with copies of sample agents, by the names of their folders in
// specs, and with files such as server.yaml, by name.
func Serve(t testing.TB, specs []string, files map[string]string) *Server {
	t.Helper()
	s := &Server{t: t, program: e2e.Built(t, "cmd/pexctl"), dir: t.TempDir()}
	for _, name := range specs {
		if err := os.CopyFS(filepath.Join(s.dir, name), os.DirFS(filepath.Join("..", "..", "..", "specs", name))); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.URL = "http://" + s.address
	s.start()
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("the server printed:\n%s", s.log.String())
		}
	})
	return s
}

func (s *Server) start() {
	s.t.Helper()
	target := "."
	if _, err := os.Stat(filepath.Join(s.dir, "server.yaml")); err == nil {
		target = "server.yaml"
	}
	s.cmd = exec.Command(s.program, "serve", target, "--listen", s.address, "--home", filepath.Join(s.dir, "home"))
	s.cmd.Dir = s.dir
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		res, err := http.Get(s.URL + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Since(began) > 30*time.Second {
			s.t.Fatalf("the server is not ready: %v", err)
		}
	}
}

func (s *Server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Error(err)
	}
	_ = s.cmd.Wait() // the exit code of a signal
}

// Restart stops the server and starts it again, with the same address and home.
func (s *Server) Restart() {
	s.t.Helper()
	s.stop()
	s.start()
}

// Post sends JSON to a path of the server, and returns the body of the response.
func (s *Server) Post(path, body string) string {
	s.t.Helper()
	res, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 400 {
		s.t.Fatalf("POST %s: %s %s %v", path, res.Status, b, err)
	}
	return string(b)
}

// Run runs the script of a client, and returns what it printed. The script fails the test
// unless it ends with exit code 0.
func Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	dir := e2e.Cached(t, "clients", name)
	script, err := os.ReadFile(filepath.Join(name, "run.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	// Node.js finds the packages next to the script.
	copied := filepath.Join(dir, fmt.Sprintf("run.%d.mjs", os.Getpid()))
	if err := os.WriteFile(copied, script, 0o600); err != nil {
		t.Fatalf("%v: internal/e2e/setup.sh clients gets the clients", err)
	}
	defer func() { _ = os.Remove(copied) }()
	var errors bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", append([]string{copied}, args...)...)
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, out, errors.String())
	}
	return string(out)
}
