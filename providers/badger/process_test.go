package badger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/providers/badger"
)

// TestMain is also the child of the tests below: it appends to a store and
// says on stdout what has been acknowledged.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PEX_TEST_CHILD"); dir != "" {
		os.Exit(child(dir, os.Getenv("PEX_TEST_NAME")))
	}
	os.Exit(m.Run())
}

func child(dir, name string) int {
	n, err := strconv.Atoi(os.Getenv("PEX_TEST_COUNT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	s := badger.Open(dir, badger.Options{LockWait: time.Minute})
	if name != "busy" {
		return appendAll(s, name, n)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() { appendAll(s, name+strconv.Itoa(w), n) })
	}
	wg.Wait()
	return 0
}

func appendAll(s *badger.Store, name string, n int) int {
	for i := range n {
		id := name + "-" + strconv.Itoa(i)
		if err := s.Append(context.Background(), interaction("shared", id)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(id)
	}
	return 0
}

func start(t *testing.T, dir, name string, count int) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "PEX_TEST_CHILD="+dir, "PEX_TEST_NAME="+name, "PEX_TEST_COUNT="+strconv.Itoa(count))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

func ids(t *testing.T, dir string) map[string]int {
	t.Helper()
	got, err := badger.Open(dir, badger.Options{}).History(t.Context(), "shared")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, in := range got {
		out[in.ID]++
	}
	return out
}

func TestTenProcessesLoseNothing(t *testing.T) {
	const processes, each = 10, 5
	dir := t.TempDir()
	var wg sync.WaitGroup
	for p := range processes {
		cmd, out := start(t, dir, fmt.Sprint("p", p), each)
		wg.Go(func() {
			_, copyErr := io.Copy(io.Discard, out)
			if err := errors.Join(copyErr, cmd.Wait()); err != nil {
				t.Errorf("process %d: %v", p, err)
			}
		})
	}
	wg.Wait()
	got := ids(t, dir)
	for p := range processes {
		for i := range each {
			if id := fmt.Sprintf("p%d-%d", p, i); got[id] != 1 {
				t.Errorf("%s is there %d times", id, got[id])
			}
		}
	}
}

// Each round kills the child after a different number of acknowledged
// interactions and of moments more, on one and the same store.
func TestAKilledProcessLosesNothingItAcknowledged(t *testing.T) {
	dir := t.TempDir()
	rounds := 24
	if testing.Short() {
		rounds = 6
	}
	acked := map[string]bool{}
	for round := range rounds {
		cmd, out := start(t, dir, fmt.Sprint("r", round), 1000)
		lines := bufio.NewScanner(out)
		for n := 0; n <= round%3 && lines.Scan(); n++ {
			acked[lines.Text()] = true
		}
		spin(round * 700)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if id := lines.Text(); strings.HasPrefix(id, "r") {
				acked[id] = true
			}
		}
		_ = cmd.Wait() // it was killed
		got := ids(t, dir)
		for id := range acked {
			if got[id] != 1 {
				t.Fatalf("round %d: %s is there %d times", round, id, got[id])
			}
		}
	}
}

// spin passes a while without a clock: stats of a file that is there.
func spin(n int) {
	for range n {
		_, _ = os.Stat(os.Args[0])
	}
}
