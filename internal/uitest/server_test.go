//go:build e2e

package uitest_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pexctl is the program under test.
var pexctl string

func TestMain(m *testing.M) { os.Exit(withProgram(m.Run)) }

func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "uitest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	pexctl = filepath.Join(dir, "pexctl")
	if out, err := exec.Command("go", "build", "-o", pexctl, "github.com/pexctl/pex/cmd/pexctl").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build pexctl: %v\n%s", err, out)
		return 1
	}
	return run()
}

// server is a pexctl serve that can be killed and started again at the same address.
type server struct {
	t       *testing.T
	dir     string
	address string
	cmd     *exec.Cmd
}

// serve starts a server with files in its folder.
func serve(t *testing.T, files map[string]string) *server {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: t.TempDir(), address: free.Addr().String()}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		file := filepath.Join(s.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.kill)
	s.start()
	return s
}

// url returns the address of a page.
func (s *server) url(path string) string { return "http://" + s.address + path }

func (s *server) start() {
	s.t.Helper()
	target := "."
	if _, err := os.Stat(filepath.Join(s.dir, "server.yaml")); err == nil {
		target = "server.yaml"
	}
	s.cmd = exec.Command(pexctl, "serve", target, "--listen", s.address, "--home", filepath.Join(s.dir, "home"))
	s.cmd.Dir = s.dir
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TMPDIR=" + os.TempDir()}
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "Serving "):
				ready <- true
			case strings.Contains(line, "error"):
				s.t.Log(line)
			}
		}
		close(ready)
	}()
	select {
	case ok := <-ready:
		if !ok {
			s.t.Fatal("the server has exited")
		}
	case <-time.After(time.Minute):
		s.t.Fatal("the server did not start")
	}
}

func (s *server) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait() // killed
		s.cmd = nil
	}
}
