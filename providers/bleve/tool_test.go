package bleve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/bleve"
)

// ships are test files about ships in several formats.
var ships = map[string]string{
	"fram.md":            "# Fram\n\nBuilt by Colin Archer.\n\n## Hull\n\nThe hull is rounded, so that ice lifts the ship.\n\n## Crew\n\nThirteen men.\n",
	"docs/endeavour.txt": "Endeavour was a collier from Whitby.\n\nShe carried coal before she carried scientists.\n",
	"docs/de.md":         "# Schiffe\n\nDie Häuser am Hafen gehören den Kapitänen.\n",
	"docs/zh.md":         "# 船\n\n北京没有港口。\n",
	"api.rst":            "API\n===\n\nCall ``parseManifest(max_cargo_tons)`` first.\n",
	"notes.csv":          "hull,ice\n",
	".git/hull.md":       "hull hull hull",
	".pex/hull.md":       "hull hull hull",
}

func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, dir, name, text)
	}
	return dir
}

// clock is the modification time of the last file written. write advances it, so that every write changes the time.
var clock = time.Unix(1_700_000_000, 0)

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(time.Second)
	if err := os.Chtimes(full, clock, clock); err != nil {
		t.Fatal(err)
	}
}

func build(t testing.TB, s tool.Settings, change func(*bleve.Config)) tool.Tool {
	t.Helper()
	c := bleve.Retrieve.Config().(*bleve.Config)
	if change != nil {
		change(c)
	}
	tool, err := bleve.Retrieve.Build(c, s)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

type shownPassage struct {
	Path    string  `json:"path"`
	Start   int     `json:"start_line"`
	End     int     `json:"end_line"`
	Heading string  `json:"heading"`
	Score   float64 `json:"score"`
	Text    string  `json:"text"`
}

// ask calls the tool and returns its text, its data and its progress messages.
func ask(t testing.TB, one tool.Tool, query string) (text string, hits []shownPassage, progress []string) {
	t.Helper()
	args, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	out, err := one.Call(t.Context(), &tool.Call{Args: args, Progress: func(m string) { progress = append(progress, m) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Data, &hits); err != nil {
		t.Fatal(err)
	}
	return out.Text, hits, progress
}

func places(hits []shownPassage) string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s:%d-%d", h.Path, h.Start, h.End))
	}
	return strings.Join(out, " ")
}

func TestSuite(t *testing.T) {
	tool := build(t, tool.Settings{Dir: plant(t, ships), Cache: t.TempDir()}, nil)
	enginetest.ToolSuite(t, tool, `{"query":"hull"}`, `{"query":"nothing like it","top_k":2}`)
}

func TestPassagesAreFound(t *testing.T) {
	dir := plant(t, ships)
	tests := []struct{ name, language, query, want string }{
		{"a section, by its heading and text", "en", "how is the hull shaped against ice?", "fram.md:5-7"},
		{"other forms of a word", "en", "scientist carrying", "docs/endeavour.txt:1-3"},
		{"the name of a file", "en", "endeavour", "docs/endeavour.txt:1-3"},
		{"umlauts", "de", "haus des kapitäns", "docs/de.md:1-3"},
		{"umlauts, written otherwise, in no language", "standard", "hauser", "docs/de.md:1-3"},
		{"Chinese", "en", "港口", "docs/zh.md:1-3"},
		{"a part of a name in camelCase", "en", "manifest", "api.rst:1-4"},
		{"a part of a name in snake_case", "en", "cargo", "api.rst:1-4"},
		{"hidden files and files outside the pattern are not searched", "en", "ice hull", "fram.md:5-7"},
		{"nothing", "en", "submarine", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := build(t, tool.Settings{Dir: dir}, func(c *bleve.Config) { c.Language = tt.language })
			_, hits, _ := ask(t, tool, tt.query)
			if got := places(hits[:min(1, len(hits))]); got != tt.want {
				t.Errorf("%s, want %q first", places(hits), tt.want)
			}
			for _, h := range hits {
				if strings.HasPrefix(h.Path, ".") || strings.HasSuffix(h.Path, ".csv") {
					t.Errorf("%s was searched", h.Path)
				}
			}
		})
	}
}

func TestAnswerHasLinesToCite(t *testing.T) {
	one := build(t, tool.Settings{Dir: plant(t, ships)}, nil)
	text, hits, _ := ask(t, one, "rounded hull")
	want := "Best matches in 5 files. Cite the passages you use as path:lines.\n\n[1] fram.md:5-7 (Fram > Hull)\n## Hull\n\nThe hull is rounded, so that ice lifts the ship."
	if d := cmp.Diff(want, text); d != "" {
		t.Error(d)
	}
	if len(hits) != 1 || hits[0].Score <= 0 || hits[0].Heading != "Fram > Hull" || !strings.HasPrefix(hits[0].Text, "## Hull") {
		t.Errorf("%+v", hits)
	}
	if text, hits, _ := ask(t, one, "submarine"); hits == nil || !strings.Contains(text, `no passage in 5 files matches "submarine"`) {
		t.Errorf("%s %v", text, hits)
	}
	out, err := one.Call(t.Context(), &tool.Call{Args: json.RawMessage(`{"query":"hull"}`)})
	if err != nil || !strings.Contains(string(out.Data), `"heading":"Fram > Hull"`) {
		t.Errorf("%s %v: a heading was escaped for HTML", out.Data, err)
	}
	empty := build(t, tool.Settings{Dir: t.TempDir()}, nil)
	if text, _, _ := ask(t, empty, "x"); text != "there are no files to search" {
		t.Error(text)
	}
}

func TestTopKLimitsPassages(t *testing.T) {
	dir := t.TempDir()
	for i := range 80 {
		write(t, dir, fmt.Sprintf("%02d.md", i), "ship")
	}
	one := build(t, tool.Settings{Dir: dir}, func(c *bleve.Config) { c.TopK = 3 })
	for args, want := range map[string]int{`{"query":"ship"}`: 3, `{"query":"ship","top_k":7}`: 7, `{"query":"ship","top_k":500}`: 50} {
		out, err := one.Call(t.Context(), &tool.Call{Args: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		var hits []shownPassage
		if err := json.Unmarshal(out.Data, &hits); err != nil || len(hits) != want || hits[0].Path != "00.md" || hits[2].Path != "02.md" {
			t.Errorf("%s: %d passages, want %d in the order of their paths (%v)", args, len(hits), want, err)
		}
	}
}

func TestAnswerSizeIsLimited(t *testing.T) {
	dir := t.TempDir()
	for i := range 60 {
		write(t, dir, fmt.Sprintf("%02d.md", i), strings.Repeat("ship ", 1500))
	}
	tool := build(t, tool.Settings{Dir: dir}, func(c *bleve.Config) { c.TopK, c.Chunk.Size = 50, 8000 })
	text, hits, _ := ask(t, tool, "ship")
	if len(text) > 60_000 || len(hits) < 3 || !strings.Contains(text, fmt.Sprintf("[%d of 50 passages shown", len(hits))) {
		t.Errorf("%d bytes, %d passages: %s", len(text), len(hits), text[len(text)-100:])
	}
}

func TestBadArguments(t *testing.T) {
	one := build(t, tool.Settings{Dir: plant(t, ships)}, nil)
	for args, want := range map[string]string{
		`{}`:                        `"query" is empty`,
		`{"query":"  "}`:            `"query" is empty`,
		`{"query":7}`:               `"query" must be a string`,
		`{"query":"x","top_k":0}`:   `"top_k" must be a whole number`,
		`{"query":"x","top_k":"2"}`: `"top_k" must be a whole number`,
		`{"query":"x","Query":"y"}`: `unknown argument "Query"`,
		`[]`:                        `not a JSON object`,
		`{"query":"` + strings.Repeat("x", 4001) + `"}`: "the maximum is 4000",
	} {
		if _, err := one.Call(t.Context(), &tool.Call{Args: json.RawMessage(args)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: error %v, want %q", args, err, want)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for want, change := range map[string]func(*bleve.Config){
		"open bracket":              func(c *bleve.Config) { c.Pattern = "[" },
		"the pattern is empty":      func(c *bleve.Config) { c.Pattern = "" },
		"is more than half of size": func(c *bleve.Config) { c.Chunk.Overlap = 700 },
		"lies outside":              func(c *bleve.Config) { c.Root = "/etc" },
		"unknown language":          func(c *bleve.Config) { c.Language = "xx" },
		"is no pattern of one":      func(c *bleve.Config) { c.Exclude = []string{"a/b"} },
	} {
		c := bleve.Retrieve.Config().(*bleve.Config)
		change(c)
		if _, err := bleve.Retrieve.Build(c, tool.Settings{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestUnusualFiles(t *testing.T) {
	dir := plant(t, map[string]string{
		"bom.md": "\xef\xbb\xbf# Ship\n\nafloat\n", "crlf.md": "# Boat\r\n\r\nrows\r\n", "latin.txt": "a sloop \xe4 here",
		"binary.txt": "frigate\x00", "empty.md": "",
	})
	secret := plant(t, map[string]string{"secret.md": "frigate"})
	if err := errors.Join(
		os.Symlink(filepath.Join(secret, "secret.md"), filepath.Join(dir, "out.md")),
		os.Symlink(secret, filepath.Join(dir, "away")),
		makeFIFO(filepath.Join(dir, "pipe.md")),
		os.WriteFile(filepath.Join(dir, "huge.txt"), nil, 0o600),
		os.Truncate(filepath.Join(dir, "huge.txt"), 17<<20),
	); err != nil {
		t.Fatal(err)
	}
	tool := build(t, tool.Settings{Dir: dir}, nil)
	for query, want := range map[string]string{
		"afloat": "# Ship\n\nafloat", "rows": "# Boat\n\nrows", "sloop": "a sloop \uFFFD here",
	} {
		if _, hits, _ := ask(t, tool, query); len(hits) != 1 || hits[0].Text != want || hits[0].Start != 1 {
			t.Errorf("%s: %+v, want %q", query, hits, want)
		}
	}
	text, hits, _ := ask(t, tool, "frigate")
	if len(hits) > 0 || !strings.Contains(text, "1 file not searched: not a text file; 1 file not searched: larger than 16 MB") {
		t.Errorf("%s %v", text, hits)
	}
}

func TestTooManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 14 {
		name := filepath.Join(dir, fmt.Sprintf("%d.txt", i))
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 16<<20)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := build(t, tool.Settings{Dir: dir}, nil).Call(t.Context(), &tool.Call{Args: json.RawMessage(`{"query":"x"}`)})
	if err == nil || !strings.Contains(err.Error(), "narrow the root or pattern") {
		t.Errorf("error %v, want the limit", err)
	}
}

func TestConcurrentCalls(t *testing.T) {
	tool := build(t, tool.Settings{Dir: plant(t, ships), Cache: t.TempDir()}, nil)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, hits, _ := ask(t, tool, "hull"); len(hits) != 1 {
				t.Errorf("%d passages, want 1", len(hits))
			}
		})
	}
	wg.Wait()
}

func TestWaitingCallEndsWithItsContext(t *testing.T) {
	embedding, free := make(chan bool), make(chan bool)
	e := &embedder{before: func() { embedding <- true; <-free }}
	one := e.tool(t, tool.Settings{Dir: plant(t, ships)}, embeddings)
	done := make(chan error)
	call := func(ctx context.Context) {
		_, err := one.Call(ctx, &tool.Call{Args: json.RawMessage(`{"query":"hull"}`)})
		done <- err
	}
	go call(t.Context())
	<-embedding
	ctx, cancel := context.WithCancel(t.Context())
	go call(ctx)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	go func() {
		for range embedding {
			free <- true
		}
	}()
	free <- true
	if err := <-done; err != nil {
		t.Error(err)
	}
	close(embedding)
}
