//go:build unix

package e2e

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startTime is how long a server may take until it answers.
const startTime = 30 * time.Second

// Cached returns a file below the folder that setup.sh filled.
func Cached(t testing.TB, parts ...string) string {
	t.Helper()
	return cached(t, parts...)
}

func cached(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("PEX_E2E_CACHE")
	if root == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		root = filepath.Join(home, ".cache", "pex-e2e")
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

// start runs a server until the test ends, with the processes it starts, and
// waits until ready answers. What it printed is shown when the test failed, unless the caller
// reads it.
func start(t testing.TB, cmd *exec.Cmd, ready string) {
	t.Helper()
	var log logBuffer
	if cmd.Stdout == nil {
		cmd.Stdout, cmd.Stderr = &log, &log
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: internal/e2e/setup.sh gets it", err)
	}
	ended := make(chan struct{})
	var how error // set when ended is closed
	go func() { how = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Errorf("stop %s: %v", cmd.Path, err)
		}
		<-ended
		if t.Failed() {
			t.Logf("%s printed:\n%s", filepath.Base(cmd.Path), log.tail())
		}
	})
	deadline := time.After(startTime)
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-ended:
			t.Fatalf("%s ended before it answered: %v\n%s", cmd.Path, how, log.tail())
		case <-deadline:
			t.Fatalf("%s does not answer after %v\n%s", cmd.Path, startTime, log.tail())
		case <-tick.C:
			if resp, err := http.Get(ready); err == nil {
				resp.Body.Close()
				tick.Stop()
				return
			}
		}
	}
}

// freeAddress returns a loopback address that was free a moment ago.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// logBuffer collects output from several goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.buf.String()
	return s[max(0, len(s)-2000):]
}

// Version is that of a server which setup.sh got: "aimock" or "ollama".
func Version(t testing.TB, server string) string {
	t.Helper()
	where := map[string]string{"aimock": "aimock/version", "ollama": "bin/ollama.version"}[server]
	text, err := os.ReadFile(cached(t, where))
	if err != nil {
		t.Fatalf("%v: internal/e2e/setup.sh %s gets it", err, server)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(text)), "v")
}
