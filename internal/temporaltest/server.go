package temporaltest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/syncbuffer"
)

// startTime is how long a server may take until it answers.
const startTime = time.Minute

// Server is a Temporal server. Its methods may be called from any goroutine.
type Server struct {
	program    string
	address    string
	db         string
	namespaces []string
	log        *syncbuffer.Buffer // of all its processes

	mu      sync.Mutex
	process *exec.Cmd // nil = killed
	stdin   io.Closer // the process ends when it is closed
	kills   int
	cpu     time.Duration // of processes that have ended
}

// Start starts a server with these namespaces, or default if there are none. It ends with the
// test.
func Start(t testing.TB, namespaces ...string) *Server {
	t.Helper()
	if len(namespaces) == 0 {
		namespaces = []string{"default"}
	}
	s, err := newServer(t.TempDir(), namespaces)
	if err == nil {
		err = s.Restart()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the Temporal server printed:\n%s", s.log.String())
		}
	})
	return s
}

func newServer(dir string, namespaces []string) (*Server, error) {
	cache := os.Getenv("PEX_E2E_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		cache = filepath.Join(home, ".cache", "pex-e2e")
	}
	s := &Server{program: filepath.Join(cache, "bin", "temporal"), db: filepath.Join(dir, "temporal.db"), namespaces: namespaces, log: &syncbuffer.Buffer{}}
	var err error
	s.address, err = freeAddress()
	return s, err
}

// Address returns HOST:PORT of the server, which stays the same.
func (s *Server) Address() string { return s.address }

// Environ returns the environment variables by which programs find a namespace of the server.
func (s *Server) Environ(namespace string) []string {
	return []string{"TEMPORAL_ADDRESS=" + s.address, "TEMPORAL_NAMESPACE=" + namespace, "TEMPORAL_CONFIG_FILE=" + os.DevNull}
}

// Kill kills the server, as the loss of its machine would, except that the file system loses
// nothing. Nothing happens if it does not run.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait() // its error is the kill
	s.cpu += s.process.ProcessState.UserTime() + s.process.ProcessState.SystemTime()
	s.stdin.Close()
	s.process = nil
	s.kills++
}

// Kills returns how often the server was killed.
func (s *Server) Kills() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kills
}

// CPU returns the CPU time of the server until it was last killed.
func (s *Server) CPU() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cpu
}

// Restart starts the server after Kill with the same data at the same address, and waits until it
// answers.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		return errors.New("the Temporal server runs already")
	}
	args := []string{"-owned", "-listen", s.address, "-db", s.db}
	for _, n := range s.namespaces {
		args = append(args, "-namespace", n)
	}
	cmd := exec.Command(s.program, args...)
	cmd.Stderr = s.log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: internal/e2e/setup.sh temporal builds it", err)
	}
	hung := time.AfterFunc(startTime, func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if hung.Stop() && err == nil && line == "ready\n" {
		s.process, s.stdin = cmd, stdin
		return nil
	}
	_ = cmd.Process.Kill()
	return fmt.Errorf("the Temporal server at %s does not start: %w\n%s", s.address, errors.Join(err, cmd.Wait()), s.log.String())
}

// freeAddress returns a loopback address whose port is free, and not one that the system gives to
// outgoing connections: while the server is down, a client that connects to such a port could reach itself.
func freeAddress() (string, error) {
	const low, high, attempts = 20_000, 32_000, 100
	for range attempts {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", low+rand.IntN(high-low)))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", errors.New("no port is free")
}
