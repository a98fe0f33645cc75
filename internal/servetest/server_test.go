//go:build unix

package servetest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/syncbuffer"
)

// pexctl is the program under test.
var pexctl string

func TestMain(m *testing.M) { os.Exit(withProgram(m.Run)) }

// withProgram builds pexctl and returns the exit code of the tests.
func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "servetest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	pexctl = filepath.Join(dir, "pexctl")
	args := append(append([]string{"build", "-o", pexctl}, raceFlags...), "github.com/pexctl/pex/cmd/pexctl")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build pexctl: %v\n%s", err, out)
		return 1
	}
	return run()
}

// hang is how long anything may take before it counts as hung.
const hang = 2 * time.Minute

// world is a folder with specs, a home and a ledger, and a server that is started and
// stopped any number of times.
type world struct {
	t      testing.TB
	dir    string // working directory of the server: specs and ledger
	home   string
	url    atomic.Value // of the latest server
	server *process     // that runs, or nil
	starts int
	http   *http.Client
	as     string   // authorization header of requests, or ""
	mayLog []string // errors that the log of the server may have
	env    []string // variables of the server in addition to those that every server has
}

// newWorld returns a world whose server serves the given files: specs, or a server.yaml.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.home = filepath.Join(w.dir, "home")
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(pexctl); err != nil { // go test then caches no result for another program
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	w.http = &http.Client{Transport: transport}
	t.Cleanup(func() {
		if w.server != nil {
			w.kill()
		}
		transport.CloseIdleConnections()
	})
	return w
}

// process is a server.
type process struct {
	*exec.Cmd
	stderr *syncbuffer.Buffer
	exited chan struct{}
}

// command is a command of pexctl with the home of the world.
func (w *world) command(args ...string) *exec.Cmd {
	c := exec.Command(pexctl, append(args, "--home", w.home)...)
	c.Dir = w.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0"}
	c.Env = append(c.Env, w.env...)
	return c
}

// launch starts the server. It returns once the server listens.
func (w *world) launch() {
	w.t.Helper()
	target := "."
	if _, err := os.Stat(filepath.Join(w.dir, "server.yaml")); err == nil {
		target = "server.yaml"
	}
	p := &process{Cmd: w.command("serve", target, "--listen", "127.0.0.1:0"), stderr: &syncbuffer.Buffer{}, exited: make(chan struct{})}
	pipe, err := p.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.server = p
	w.starts++
	address := make(chan string, 1)
	go func() {
		r := bufio.NewReader(pipe)
		for {
			line, err := r.ReadString('\n')
			if _, _ = io.WriteString(p.stderr, line); err != nil {
				break
			}
			if rest, ok := strings.CutPrefix(line, "Serving "); ok {
				_, url, _ := strings.Cut(strings.TrimSpace(rest), " on ")
				address <- url
			}
		}
		_ = p.Wait()
		close(p.exited)
	}()
	select {
	case url := <-address:
		w.url.Store(url)
	case <-p.exited:
		w.t.Fatalf("the server does not start: %s", p.stderr)
	case <-time.After(hang):
		w.t.Fatalf("the server does not listen: %s", p.stderr)
	}
}

// start starts the server and waits until it is ready.
func (w *world) start() {
	w.t.Helper()
	w.launch()
	w.awaitReady()
}

func (w *world) awaitReady() {
	w.t.Helper()
	w.until("the server is ready", func() bool {
		r, err := w.http.Get(w.url.Load().(string) + "/readyz")
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
}

// until waits for a condition.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for began := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > hang {
			_ = w.server.Process.Signal(syscall.SIGQUIT) // shows where it hangs
			<-w.server.exited
			w.t.Fatalf("not after %v: %s\n%s", hang, what, w.server.stderr)
		}
	}
}

// kill kills the server.
func (w *world) kill() {
	w.t.Helper()
	_ = w.server.Process.Kill()
	w.ended()
}

// terminate sends SIGTERM to the server and returns its exit code, and how long it took.
func (w *world) terminate() (code int, took time.Duration) {
	w.t.Helper()
	began := time.Now()
	_ = w.server.Process.Signal(syscall.SIGTERM)
	p := w.ended()
	return p.ProcessState.ExitCode(), time.Since(began)
}

// ended waits for the server, whose log must show no defect.
func (w *world) ended() *process {
	w.t.Helper()
	p := w.server
	select {
	case <-p.exited:
	case <-time.After(hang):
		_ = p.Process.Signal(syscall.SIGQUIT)
		<-p.exited
		w.t.Fatalf("the server hangs: %s", p.stderr)
	}
	w.server = nil
	for line := range strings.Lines(p.stderr.String()) {
		for _, bad := range []string{"panic", "fatal error", "DATA RACE", "level=ERROR"} {
			if strings.Contains(line, bad) && !slices.ContainsFunc(w.mayLog, func(s string) bool { return strings.Contains(line, s) }) {
				w.t.Errorf("the log of the server has %s", line)
			}
		}
	}
	return p
}

// memory returns a value of /proc/PID/status in MB, such as VmHWM; 0 = unknown.
func (w *world) memory(field string) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.server.Process.Pid))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}

// cpu returns the CPU time that the server has used; 0 = unknown.
func (w *world) cpu() time.Duration {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.server.Process.Pid))
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // in clock ticks
}

// load describes how busy the machine is, for figures.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return fmt.Sprintf("%d CPUs, load %s", runtime.NumCPU(), first)
}
