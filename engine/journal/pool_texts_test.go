package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

const (
	systemPrompt = "You are the planner of an agent. Break the objective into steps.\n\n\"Plan\" few steps — with tools.\n"
	toolSchema   = `{"type":"object","properties":{"steps":{"type":"array","items":{"type":"string"}}},"required":["steps"]}`
)

// requestOf returns a request that many runs send with another question each.
func requestOf(question string) journal.Request {
	return journal.Request{
		Messages: []journal.Message{
			{Head: json.RawMessage(`{"role":"system"}`), Text: []string{systemPrompt, "\n"}},
			{Head: json.RawMessage(`{"role":"user"}`), Text: []string{"Objective:\n", question}},
		},
		Fields: []journal.Field{{Name: "schema", JSON: json.RawMessage(toolSchema)}, {Name: "call", JSON: json.RawMessage("1")}},
	}
}

// asking returns the records of a run with two model calls.
func asking(t testing.TB, run string) []journal.Record {
	t.Helper()
	var s journal.Segments
	recs := []journal.Record{{Kind: journal.Start, Path: run, Body: []byte(`{"program":null}`)}}
	for n, question := range []string{"What does run " + run + " ask?", "What does run " + run + " ask in its second call?"} {
		body, err := s.Encode(requestOf(question))
		if err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("plan.%d/model", n+1)
		recs = append(recs,
			journal.Record{Kind: journal.Intent, Class: journal.Read, Attempt: 1, Path: path, Body: body, Encoded: true, Digest: journal.DigestOf(body)},
			journal.Record{Kind: journal.Result, Path: path, Body: []byte(`{"text":"42"}`)})
	}
	recs = append(recs, journal.Record{Kind: journal.End})
	for i := range recs {
		recs[i].Seq = uint64(i + 1)
	}
	return recs
}

// stored returns records as a reader sees them.
func stored(recs []journal.Record) []journal.Record {
	recs = slices.Clone(recs)
	for i := range recs {
		recs[i].Encoded = false
	}
	return recs
}

// askingPool writes a pool of runs that ask, one after the other.
func askingPool(t testing.TB, path string, runs ...string) {
	t.Helper()
	p := openPool(t, path, journal.PoolOptions{Durability: journal.Async})
	for _, run := range runs {
		for _, rec := range asking(t, run) {
			put(t, pooledRun(t, p, run), rec)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sharedLines(b []byte) int { return bytes.Count(b, []byte(`{"run":"~texts"`)) }

func TestTextsOfManyRunsAreStoredOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	p := openPool(t, path, journal.PoolOptions{Durability: journal.Async, Done: kept})
	defer p.Close()
	const runs = 20
	for n := range runs {
		run := fmt.Sprint("r", n)
		put(t, pooledRun(t, p, run), asking(t, run)...)
	}
	for n := range runs {
		run := fmt.Sprint("r", n)
		want := stored(asking(t, run))
		same(t, loaded(t, pooledRun(t, p, run)), want)
		for _, read := range []func() ([]journal.Record, error){
			func() ([]journal.Record, error) { return journal.ReadPool(path, run) },
			func() ([]journal.Record, error) { return p.Read(run) },
		} {
			got, err := read()
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		}
	}
	b := content(t, path)
	for _, text := range []string{"Break the objective", "properties"} {
		if n := bytes.Count(b, []byte(text)); n != 2 { // in the first run, and as a shared text
			t.Errorf("%q is in the file %d times", text, n)
		}
	}
	if n := bytes.Count(b, []byte("What does run r7 ask?")); n != 1 {
		t.Errorf("a question that nobody repeats is in the file %d times", n)
	}
	if err := journal.CheckPool(path); err != nil {
		t.Error(err)
	}
	if _, err := journal.ReadPool(path, "~texts"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the texts are a run:", err)
	}
	if _, err := p.Run("~texts"); err == nil || !strings.Contains(err.Error(), "reserved") {
		t.Error("the id of the texts is that of a run:", err)
	}
}

// A resumed evaluation refers to the texts of earlier sessions.
func TestLaterSessionsUseTheSameTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	askingPool(t, path, "a", "b")
	before := sharedLines(content(t, path))
	askingPool(t, path, "c", "d")
	b := content(t, path)
	if after := sharedLines(b); before == 0 || after != before {
		t.Fatalf("%d texts, and %d after another session", before, after)
	}
	if n := bytes.Count(b, []byte("Break the objective")); n != 2 {
		t.Fatalf("a text is in the file %d times", n)
	}
	for _, run := range []string{"a", "b", "c", "d"} {
		got, err := journal.ReadPool(path, run)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, stored(asking(t, run)))
	}
}

func TestManyRunsShareTextsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	p := openPool(t, path, journal.PoolOptions{})
	var all sync.WaitGroup
	const runs = 64
	for n := range runs {
		all.Go(func() {
			run := fmt.Sprint("r", n)
			j := pooledRun(t, p, run)
			for tick := range slices.Chunk(asking(t, run), 1+n%3) {
				put(t, j, tick...)
			}
			if n%2 == 0 {
				p.Forget(run)
			} else {
				same(t, loaded(t, j), stored(asking(t, run)))
			}
			got, err := journal.ReadPool(path, run)
			if err != nil {
				t.Error(err)
			}
			same(t, got, stored(asking(t, run)))
		})
	}
	all.Wait()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(content(t, path), []byte("\n"))
	texts := map[string]int{}
	for _, line := range lines {
		if _, value, ok := bytes.Cut(line, []byte(`,"value":`)); ok {
			texts[string(value[:bytes.LastIndex(value, []byte(`,"chain"`))])]++
		}
	}
	for text, n := range texts {
		if n != 1 {
			t.Errorf("%d times: %s", n, text)
		}
	}
	if len(texts) < 3 {
		t.Errorf("%d texts are shared", len(texts))
	}
}

// A body in which a number could be mistaken for a reference is stored as it is.
func TestEveryBodyIsReadAsItWasWritten(t *testing.T) {
	long := `"` + strings.Repeat("a text that repeats ", 5) + `"`
	for _, body := range []string{
		`{}`, `{"new":{}}`, `{"new":{"1":` + long + `}}`, `{"new":{"1":` + long + `,"2":1}}`, `{"new":{"1":` + long + `},"n":2}`,
		`{"new":{"1":` + long + `},"n":-2}`, `{"new":7,"x":` + long + `}`, `{"new":[1,` + long + `],"x":` + long + `}`,
		`{"a":` + long + `,"b":` + long + `,"c":{"new":{"1":1,"2":` + long + `}}}`, `[` + long + `,` + long + `]`, long, `null`, `12`,
		`{"a\":1,\"b":` + long + `,"\\":` + long + `}`, `{"":` + long + `}`,
	} {
		path := filepath.Join(t.TempDir(), "pool.jsonl")
		p := openPool(t, path, journal.PoolOptions{Durability: journal.Async})
		rec := journal.Record{Seq: 2, Kind: journal.Intent, Class: journal.Read, Attempt: 1, Path: "x", Body: []byte(body), Encoded: true}
		for n := range 3 {
			run := fmt.Sprint("r", n)
			put(t, pooledRun(t, p, run), journal.Record{Seq: 1, Kind: journal.Start, Path: run}, rec)
			if got := loaded(t, pooledRun(t, p, run)); string(got[1].Body) != body {
				t.Errorf("%s was read as %s", body, got[1].Body)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if err := journal.CheckPool(path); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func FuzzSharedTexts(f *testing.F) {
	f.Add([]byte(`{"new":{"1":"` + strings.Repeat("x", 60) + `","2":"y"},"defs":{"1":{"text":[1]}},"messages":[1]}`))
	f.Add([]byte(`{"new":{"1":1},"a":"` + strings.Repeat("x", 60) + `"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		compact, texts := journal.Compact(body)
		if compact == nil {
			return
		}
		got, err := journal.Expand(compact, texts)
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%s\nwas compacted to\n%s\nand expanded to\n%s\n%v", body, compact, got, err)
		}
	})
}

// The number of texts is bounded; further ones are stored with each request.
func TestTheNumberOfSharedTextsIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	p := openPool(t, path, journal.PoolOptions{Durability: journal.Async})
	const texts = journal.MaxTexts + 100
	for run := range 2 {
		id := fmt.Sprint("r", run)
		j := pooledRun(t, p, id)
		recs := []journal.Record{{Seq: 1, Kind: journal.Start, Path: id}}
		for n := range texts {
			for range 2 - run {
				recs = append(recs, journal.Record{
					Seq: uint64(len(recs) + 1), Kind: journal.Intent, Class: journal.Read, Attempt: 1, Path: "x", Encoded: true,
					Body: fmt.Appendf(nil, `{"text":"%060d"}`, n),
				})
			}
		}
		put(t, j, recs...)
		same(t, loaded(t, j), stored(recs))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n := sharedLines(content(t, path)); n != journal.MaxTexts {
		t.Errorf("%d texts are shared, want %d", n, journal.MaxTexts)
	}
	if err := journal.CheckPool(path); err != nil {
		t.Error(err)
	}
}

// Pools of earlier versions have no shared texts. They are read, and continued with some.
func TestPoolsOfEarlierVersionsAreContinued(t *testing.T) {
	for _, version := range []string{"version1", "version2"} {
		t.Run(version, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pool.jsonl")
			if err := os.WriteFile(path, content(t, filepath.Join("testdata", "pool", version+".jsonl")), 0o600); err != nil {
				t.Fatal(err)
			}
			p := openPool(t, path, journal.PoolOptions{Durability: journal.Async, Done: kept})
			same(t, loaded(t, pooledRun(t, p, "a")), stored(asking(t, "a")))
			same(t, loaded(t, pooledRun(t, p, "b")), stored(asking(t, "b"))[:2])
			put(t, pooledRun(t, p, "b"), asking(t, "b")[2:]...)
			for _, run := range []string{"c", "d"} {
				put(t, pooledRun(t, p, run), asking(t, run)...)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			for _, run := range []string{"a", "b", "c", "d"} {
				got, err := journal.ReadPool(path, run)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, stored(asking(t, run)))
			}
			if sharedLines(content(t, path)) < 3 {
				t.Error("no texts are shared")
			}
		})
	}
}

// The format of a pool is that of the file in testdata.
func TestTheFormatOfAPoolDoesNotChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	p := openPool(t, path, journal.PoolOptions{Durability: journal.Async})
	put(t, pooledRun(t, p, "a"), asking(t, "a")...)
	put(t, pooledRun(t, p, "b"), asking(t, "b")[:2]...)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := content(t, path), content(t, "testdata/pool/version2.jsonl"); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPoolsOfLaterVersionsAreRefused(t *testing.T) {
	for name, at := range map[string]string{"text": `{"run":"~texts"`, "request": `{"run":"b","v":2`, "record": `{"run":"b","v":1`} {
		path := filepath.Join(t.TempDir(), "pool.jsonl")
		askingPool(t, path, "a", "b")
		b := content(t, path)
		line := bytes.Index(b, []byte(at))
		end := line + bytes.IndexByte(b[line:], '\n')
		var tail journal.Chain // of the run's line before
		if run, _, _ := bytes.Cut(b[line:], []byte(`,"v"`)); bytes.Contains(b[:line], run) {
			before := b[:line][bytes.LastIndex(b[:line], run):]
			before = before[:bytes.IndexByte(before, '\n')]
			if err := tail.UnmarshalText(before[len(before)-18 : len(before)-2]); err != nil {
				t.Fatal(err)
			}
		}
		run, rest, _ := bytes.Cut(b[line:end], []byte(`,"v":`))
		body := append([]byte(`{"v":3`), rest[1:bytes.LastIndex(rest, []byte(`,"chain":`))]...)
		sealed, _ := journal.Seal(body, tail)
		sealed[0] = ','
		rewrite(t, path, slices.Concat(b[:line], run, sealed))
		_, err := journal.OpenPool(path, journal.PoolOptions{})
		if !errors.Is(err, journal.ErrNewer) || errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "format 3, this program reads up to 2") {
			t.Errorf("%s: %v", name, err)
		}
		if err := journal.CheckPool(path); !errors.Is(err, journal.ErrNewer) {
			t.Errorf("%s: checked: %v", name, err)
		}
		if _, err := journal.ReadPool(path, "b"); name != "text" && !errors.Is(err, journal.ErrNewer) {
			t.Errorf("%s: read: %v", name, err)
		}
	}
}
