package badger_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/providers/badger"
)

// TestMain also runs the child process of the tests below. It appends to a store and prints the acknowledged ids.
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
	idle, _ := time.ParseDuration(os.Getenv("PEX_TEST_IDLE"))
	inbox, _ := strconv.ParseInt(os.Getenv("PEX_TEST_INBOX"), 10, 64)
	s := badger.Open(dir, badger.Options{LockWait: time.Minute, Idle: idle, Inbox: inbox})
	if name == "bulk" {
		return appendBulk(s, n)
	}
	if name != "busy" {
		code := appendAll(s, name, n)
		if os.Getenv("PEX_TEST_STAY") != "" {
			_, _ = io.Copy(io.Discard, os.Stdin) // runs until killed
		}
		if err := s.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() { appendAll(s, name+strconv.Itoa(w), n) })
	}
	wg.Wait()
	return 0
}

func appendAll(s *badger.Store, name string, n int) int {
	memoryID := cmp.Or(os.Getenv("PEX_TEST_MEMORY"), "shared")
	for i := range n {
		id := name + "-" + strconv.Itoa(i)
		if err := s.Append(context.Background(), interaction(memoryID, id)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(id)
	}
	return 0
}

// bulk and bulkSize are the number and size of the interactions in one append. They exceed one Badger transaction.
const bulk, bulkSize = 150, 3000

func appendBulk(s *badger.Store, n int) int {
	for i := range n {
		var all []memory.Interaction
		for k := range bulk {
			in := interaction("shared", fmt.Sprintf("%d-%d-%d", os.Getpid(), i, k))
			in.Answer = strings.Repeat("x", bulkSize)
			fresh := in
			fresh.MemoryID = fmt.Sprintf("own-%d-%d", os.Getpid(), i)
			all = append(all, in, fresh)
		}
		if err := s.Append(context.Background(), all...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("done")
	}
	return 0
}

func start(t *testing.T, dir, name string, count int, env ...string) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "PEX_TEST_CHILD="+dir, "PEX_TEST_NAME="+name, "PEX_TEST_COUNT="+strconv.Itoa(count))
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // keeps stdin open until the child ends
		t.Fatal(err)
	}
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
	return idsOf(t, dir, "shared")
}

func idsOf(t *testing.T, dir, memoryID string) map[string]int {
	t.Helper()
	got, err := badger.Open(dir, badger.Options{}).History(t.Context(), memoryID)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, in := range got {
		out[in.ID]++
	}
	return out
}

// Ten processes share a conversation and ten have their own. Some keep the store open between operations, some append to
// the inbox.
func TestTwentyProcessesLoseNothing(t *testing.T) {
	const processes, each = 20, 5
	dir := t.TempDir()
	memory := func(p int) string {
		if p%2 == 0 {
			return "shared"
		}
		return fmt.Sprint("own-", p)
	}
	var wg sync.WaitGroup
	for p := range processes {
		idle := []string{"0s", "1s", "1h"}[p%3]
		inbox := []string{"0", "0", "700", "262144"}[p%4]
		cmd, out := start(t, dir, fmt.Sprint("p", p), each, "PEX_TEST_MEMORY="+memory(p), "PEX_TEST_IDLE="+idle, "PEX_TEST_INBOX="+inbox)
		wg.Go(func() {
			_, copyErr := io.Copy(io.Discard, out)
			if err := errors.Join(copyErr, cmd.Wait()); err != nil {
				t.Errorf("process %d: %v", p, err)
			}
		})
	}
	wg.Wait()
	for p := range processes {
		got := idsOf(t, dir, memory(p))
		for i := range each {
			if id := fmt.Sprintf("p%d-%d", p, i); got[id] != 1 {
				t.Errorf("%s is stored %d times", id, got[id])
			}
		}
	}
	if damage, err := badger.Open(dir, badger.Options{}).Check(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("%v, %v", damage, err)
	}
}

// Each round kills the child after a different number of acknowledged interactions and a different delay, always on the
// same store. Some children append to the inbox, which is small, so that most of them import it too.
func TestKilledProcessKeepsAcknowledgedData(t *testing.T) {
	dir := t.TempDir()
	rounds := 24
	if testing.Short() {
		rounds = 6
	}
	acked := map[string]bool{}
	for round := range rounds {
		cmd, out := start(t, dir, fmt.Sprint("r", round), 1000, "PEX_TEST_INBOX="+[]string{"0", "1000", "262144"}[round%3])
		lines := bufio.NewScanner(out)
		for n := 0; n <= round%5 && lines.Scan(); n++ {
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
				t.Fatalf("round %d: %s is stored %d times", round, id, got[id])
			}
		}
	}
}

// A large append that is interrupted leaves no visible data, and GC removes the rest.
func TestKilledProcessLeavesNoPartialAppend(t *testing.T) {
	dir := t.TempDir()
	acked, rounds := 0, 8
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		cmd, out := start(t, dir, "bulk", 50, "PEX_TEST_IDLE=1h")
		lines := bufio.NewScanner(out)
		for range round%3 + 1 {
			if lines.Scan() {
				acked++
			}
		}
		spin(round * 1500)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			acked++
		}
		_ = cmd.Wait() // it was killed
		if got := len(ids(t, dir)); got%bulk != 0 || got < acked*bulk {
			t.Fatalf("round %d: %d interactions, %d appends of %d were acknowledged", round, got, acked, bulk)
		}
		if round%2 == 0 {
			if _, err := badger.Open(dir, badger.Options{}).GC(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		checkIntact(t, dir)
	}
}

// spin takes some time without a clock, by repeated calls of os.Stat.
func spin(n int) {
	for range n {
		_, _ = os.Stat(os.Args[0])
	}
}

// Badger empties a merged table before it removes it. A kill in between leaves an empty file that is no longer needed.
func TestEmptyUnusedTableIsNotDamage(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 3)
	if err := os.WriteFile(filepath.Join(dir, "000099.sst"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rewrite(t, dir, func(m map[string]any) {
		m["phase"] = "closing"
		m["files"] = append(m["files"].([]any), map[string]any{"name": "000099.sst", "size": 438, "crc32c": 7})
	})
	checkHistory(t, dir, "c", 3)
	checkIntact(t, dir)
}

func TestEmptyNeededTableIsDamage(t *testing.T) {
	skipUnderRace(t)
	dir := t.TempDir()
	fill(t, dir, 3)
	if err := os.Truncate(glob(t, dir, "*.sst"), 0); err != nil {
		t.Fatal(err)
	}
	rewrite(t, dir, func(m map[string]any) { m["phase"] = "closing" })
	var corrupt *badger.CorruptError
	if got, err := badger.Open(dir, badger.Options{}).History(t.Context(), "c"); !errors.As(err, &corrupt) {
		t.Errorf("%d interactions, %v", len(got), err)
	}
}
