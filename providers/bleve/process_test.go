package bleve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/tool"
)

// TestChild runs as a separate process of the tests below. It reads one query per line and prints the places of the
// passages and the progress messages.
func TestChild(t *testing.T) {
	dir, cache, ok := strings.Cut(os.Getenv("PEX_TEST_RETRIEVE"), "|")
	if !ok {
		t.Skip("runs as a child of other tests")
	}
	one := build(t, tool.Settings{Dir: dir, Cache: cache}, nil)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		args, err := json.Marshal(map[string]string{"query": lines.Text()})
		if err != nil {
			t.Fatal(err)
		}
		out, err := one.Call(t.Context(), &tool.Call{Args: args, Progress: func(m string) { fmt.Println("progress", m) }})
		if err != nil {
			t.Fatal(err)
		}
		var hits []shownPassage
		if err := json.Unmarshal(out.Data, &hits); err != nil {
			t.Fatal(err)
		}
		fmt.Println("answer", places(hits))
	}
}

// child is a process that runs TestChild.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    *os.File
	lines *bufio.Scanner
}

func start(t *testing.T, dir, cache string) *child {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestChild$")
	cmd.Env = append(os.Environ(), "PEX_TEST_RETRIEVE="+dir+"|"+cache)
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() {
		w.Close()
		_ = cmd.Wait() // the context may have killed it
	})
	return &child{t, cmd, w, bufio.NewScanner(out)}
}

func (c *child) ask(query string) {
	if _, err := fmt.Fprintln(c.in, query); err != nil {
		c.t.Error(err)
	}
}

// answer returns the places in the next answer and the progress messages before it.
func (c *child) answer() (places string, progress []string) {
	for c.lines.Scan() {
		if m, ok := strings.CutPrefix(c.lines.Text(), "progress "); ok {
			progress = append(progress, m)
		}
		if a, ok := strings.CutPrefix(c.lines.Text(), "answer "); ok {
			return a, progress
		}
	}
	c.t.Errorf("the child ended: %v", c.lines.Err())
	return "", progress
}

// Processes that search concurrently get correct answers, share one index if possible, and leave it intact.
func TestProcessesShareACache(t *testing.T) {
	dir, cache := plant(t, nil), t.TempDir()
	for i := range 30 {
		write(t, dir, fmt.Sprintf("%d.md", i), fmt.Sprintf("ship number%d", i))
	}
	children := []*child{start(t, dir, cache), start(t, dir, cache), start(t, dir, cache)}
	for i := range 30 {
		if i%5 == 0 {
			write(t, dir, fmt.Sprintf("%d.md", i), fmt.Sprintf("ship no longer number%d", i))
		}
		for _, c := range children {
			c.ask(fmt.Sprint("number", i))
		}
		for _, c := range children {
			if got, _ := c.answer(); got != fmt.Sprintf("%d.md:1-1", i) {
				t.Errorf("%q, want %d.md", got, i)
			}
		}
	}
	if _, hits, progress := ask(t, build(t, tool.Settings{Dir: dir, Cache: cache}, nil), "number7"); places(hits) != "7.md:1-1" || len(progress) > 0 {
		t.Errorf("%s %q", places(hits), progress)
	}
}

// While one process holds the index, for example to create vectors, another one uses an index in memory. It uses the
// stored one again when that is free.
func TestLockedIndexIsNotWaitedFor(t *testing.T) {
	dir, cache := plant(t, ships), t.TempDir()
	c := start(t, dir, cache)
	embedding, free := make(chan bool), make(chan bool)
	e := &embedder{before: func() { embedding <- true; <-free }}
	tool := e.tool(t, tool.Settings{Dir: dir, Cache: cache}, embeddings)
	done := make(chan string)
	go func() {
		_, hits, _ := ask(t, tool, "hull")
		done <- places(hits)
	}()
	<-embedding
	start := time.Now()
	for range 2 {
		c.ask("hull")
	}
	if got, progress := c.answer(); got != "fram.md:5-7" || len(progress) != 1 || progress[0] != "another process is using the index; building a temporary one in memory" {
		t.Errorf("%s %q", got, progress)
	}
	if got, progress := c.answer(); got != "fram.md:5-7" || len(progress) > 0 {
		t.Errorf("%s %q: reported again", got, progress)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	go func() {
		for range embedding {
			free <- true
		}
	}()
	free <- true
	if got := <-done; !strings.Contains(got, "fram.md:5-7") {
		t.Errorf("%s", got)
	}
	close(embedding)
	c.ask("hull")
	if got, progress := c.answer(); got != "fram.md:5-7" || len(progress) > 0 {
		t.Errorf("%s %q", got, progress)
	}
	if indexes, err := filepath.Glob(filepath.Join(cache, "retrieve", "*")); err != nil || len(indexes) != 1 {
		t.Errorf("%v %v, want one index", indexes, err)
	}
}

// A process that is killed while indexing leaves a usable index.
func TestKilledProcessLeavesUsableIndex(t *testing.T) {
	dir, cache := plant(t, nil), t.TempDir()
	for i := range 250 {
		write(t, dir, fmt.Sprintf("%d.md", i), fmt.Sprintf("ship number%d %s", i, strings.Repeat("wave ", 2000)))
	}
	c := start(t, dir, cache)
	c.ask("number7")
	if !c.lines.Scan() || c.lines.Text() != "progress indexing 250 files" {
		t.Fatalf("%q", c.lines.Text())
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for c.lines.Scan() {
		t.Logf("after the kill: %s", c.lines.Text())
	}
	for i := range 2 {
		_, hits, _ := ask(t, build(t, tool.Settings{Dir: dir, Cache: cache}, nil), fmt.Sprint("number", 7+i))
		if want := fmt.Sprintf("%d.md:", 7+i); len(hits) != 1 || !strings.HasPrefix(places(hits), want) {
			t.Errorf("%s, want %s", places(hits), want)
		}
	}
}
