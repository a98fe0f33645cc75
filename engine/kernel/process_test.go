package kernel_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// TestMain is also the child of the tests below: PEX_TEST_HOME names its home,
// PEX_TEST_HOLD the run that it holds until its stdin is closed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PEX_TEST_HOME"); dir != "" {
		child(dir)
	}
	os.Exit(m.Run())
}

func child(dir string) {
	h, err := journal.OpenHome(dir, journal.Durability(os.Getenv("PEX_TEST_DURABILITY")))
	if err != nil {
		panic(err)
	}
	if run := os.Getenv("PEX_TEST_HOLD"); run != "" {
		hold(h, run)
	}
	killed(h, dir)
}

func openOrCreate(h *journal.Home, run string) (*journal.File, error) {
	f, err := h.Open(run)
	if errors.Is(err, fs.ErrNotExist) {
		return h.Create(run)
	}
	return f, err
}

// hold opens its run, runs it, says so, and waits.
func hold(h *journal.Home, id string) {
	f, err := openOrCreate(h, id)
	if err != nil {
		fmt.Println(err)
		os.Exit(7)
	}
	var out outcome
	if _, err := kernel.Run(context.Background(), kernel.Options{RunID: id, Journal: f}, agents["guard fires"].program(newWorld(0), &out)); err != nil {
		fmt.Println(err)
		os.Exit(8)
	}
	fmt.Println("held", os.Getpid())
	_, _ = io.Copy(io.Discard, os.Stdin)
	f.Close()
	os.Exit(0)
}

func holder(dir, run string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "PEX_TEST_HOME="+dir, "PEX_TEST_HOLD="+run)
	return c
}

func TestASecondProcessIsToldWhoHoldsTheRun(t *testing.T) {
	dir := t.TempDir()
	c := holder(dir, "r")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != fmt.Sprintf("held %d\n", c.Process.Pid) {
		t.Fatal(line)
	}
	want := fmt.Sprintf("run r is held by pid %d", c.Process.Pid)
	if got, err := holder(dir, "r").Output(); err == nil || string(got) != want+"\n" {
		t.Fatalf("second process: %v %q", err, got)
	}
	h, err := journal.OpenHome(dir, journal.Sync)
	if err != nil {
		t.Fatal(err)
	}
	var held *journal.InUseError
	if _, err := h.Open("r"); !errors.As(err, &held) || err.Error() != want {
		t.Fatal("third process:", err)
	}
	if err := c.Process.Kill(); err != nil { // a killed holder leaves nothing to clean up
		t.Fatal(err)
	}
	_ = c.Wait()
	f, err := h.Open("r")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestManyProcessesRunSideBySideInOneHome(t *testing.T) {
	dir := t.TempDir()
	const n = 10
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if out, err := holder(dir, fmt.Sprint("run", i)).CombinedOutput(); err != nil {
				t.Errorf("%v %s", err, out)
			}
		})
	}
	wg.Wait()
	h, err := journal.OpenHome(dir, journal.Sync)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := h.List()
	if err != nil || len(ids) != n {
		t.Fatal(err, ids)
	}
	for _, id := range ids {
		if recs, err := h.Read(id); err != nil || recs[len(recs)-1].Kind != journal.End {
			t.Fatal(id, err)
		}
	}
}

func TestNothingLeaks(t *testing.T) {
	h, err := journal.OpenHome(t.TempDir(), journal.Async)
	if err != nil {
		t.Fatal(err)
	}
	goroutines, files := runtime.NumGoroutine(), openFiles()
	for i := range 30 {
		f, err := h.Create(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := agents["guard fires"].run(newWorld(0), f, kernel.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for i := 0; runtime.NumGoroutine() > goroutines && i < 1e6; i++ {
		runtime.Gosched() // the last effects' goroutines are ending
	}
	if g, f := runtime.NumGoroutine(), openFiles(); g > goroutines || f > files {
		t.Fatalf("%d goroutines, were %d; %d open files, were %d", g, goroutines, f, files)
	}
}

func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd") // elsewhere than on Linux: 0
	return len(entries)
}
