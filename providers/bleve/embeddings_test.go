package bleve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/bleve"
)

// embedder creates vectors in which "boat" and "vessel" are similar.
type embedder struct {
	before   func()
	identity string
	missing  error // returned by tool.Settings.Embeds
	fail     error // returned by embed
	fail2    error // returned by embed from the second request on
	extra    int   // additional dimensions

	mu       sync.Mutex
	requests int
	texts    []string
	rests    []int // announced bytes of text to follow
}

var topics = [][]string{{"ship", "boat", "vessel", "hull"}, {"crew", "men", "sailor"}, {"coal", "cargo"}}

// tool returns the tool with e as its source of embeddings.
func (e *embedder) tool(t testing.TB, s tool.Settings, change func(*bleve.Config)) tool.Tool {
	s.Embeds = func(string) (string, error) { return e.identity, e.missing }
	one := build(t, s, change)
	return tool.Wrap(one, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		c.Embed = e.embed
		return one.Call(ctx, c)
	})
}

func (e *embedder) embed(_ context.Context, texts []string, rest int) (out [][]float64, err error) {
	if e.before != nil {
		e.before()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests++
	e.texts, e.rests = append(e.texts, texts...), append(e.rests, rest)
	if e.fail != nil || e.fail2 != nil && e.requests > 1 {
		return nil, errors.Join(e.fail, e.fail2)
	}
	for _, t := range texts {
		v := make([]float64, len(topics)+e.extra)
		for i, words := range topics {
			for _, w := range words {
				v[i] += float64(strings.Count(strings.ToLower(t), w))
			}
		}
		out = append(out, v)
	}
	return out, nil
}

func embeddings(c *bleve.Config) {
	c.Embeddings.LLM = component.ModelRef{Name: "vectors"}
}

func TestEmbeddingsFindSynonyms(t *testing.T) {
	dir := plant(t, ships)
	words := build(t, tool.Settings{Dir: dir}, nil)
	if _, hits, _ := ask(t, words, "sailors"); len(hits) > 0 {
		t.Fatalf("full-text search found %s", places(hits))
	}
	e := &embedder{}
	tool := e.tool(t, tool.Settings{Dir: dir}, embeddings)
	text, hits, _ := ask(t, tool, "sailors")
	if len(hits) == 0 || places(hits[:1]) != "fram.md:9-11" || strings.Contains(text, "full-text search only") {
		t.Errorf("%s\n%s", places(hits), text)
	}
	for _, sent := range e.texts {
		if strings.HasPrefix(sent, "Fram > Crew\n## Crew") {
			return
		}
	}
	t.Errorf("no text was sent with its heading: %q", e.texts)
}

func TestVectorsAreCreatedOnce(t *testing.T) {
	dir, cache := plant(t, ships), t.TempDir()
	e := &embedder{identity: "one"}
	s := tool.Settings{Dir: dir, Cache: cache}
	ask(t, e.tool(t, s, embeddings), "boat")
	all := len(e.texts)
	if all < 6 {
		t.Fatalf("%d texts were sent", all)
	}
	for _, tt := range []struct {
		name string
		do   func()
		want int
	}{
		{"nothing changed: only the query", func() {}, 1},
		{"one file changed: its passages too", func() { write(t, dir, "docs/de.md", "# Neu\n\nneu\n") }, 2},
		{"another llm: all of them", func() { e.identity = "two" }, all},
		{"the first one again", func() { e.identity = "one" }, 1},
		{"the same name, other vectors: all of them", func() { e.extra = 1 }, all},
	} {
		e.texts = nil
		tt.do()
		if text, _, progress := ask(t, e.tool(t, s, embeddings), "boat"); len(e.texts) != tt.want || strings.Contains(text, "full-text search only") {
			t.Errorf("%s: %d texts sent, want %d: %s %q", tt.name, len(e.texts), tt.want, text, progress)
		}
	}
}

// TestFirstRequestAnnouncesRemainingText checks that the first request of a call announces how much text follows, and
// the last one that none does, so that the budget can be reserved at once.
func TestFirstRequestAnnouncesRemainingText(t *testing.T) {
	dir, cache := plant(t, ships), t.TempDir()
	e := &embedder{}
	for i := range 200 {
		write(t, dir, fmt.Sprintf("many/%d.md", i), fmt.Sprintf("# Boat %d\n\nÄhnlich.\n", i))
	}
	check := func(name string) {
		t.Helper()
		want := 0
		for _, text := range e.texts[1:] {
			want += len(text)
		}
		if e.rests[0] != want || e.rests[len(e.rests)-1] != 0 {
			t.Errorf("%s: announced %[3]v, want %[2]d bytes first and 0 last", name, want, e.rests)
		}
		e.texts, e.rests = nil, nil
	}
	s := tool.Settings{Dir: dir, Cache: cache}
	tool := e.tool(t, s, embeddings)
	if ask(t, tool, "boat"); len(e.rests) != 3 {
		t.Fatalf("%d requests", len(e.rests))
	}
	check("all")
	ask(t, tool, "boat")
	check("none")
	write(t, dir, "many/1.md", "# Boat\n\nAnother.\n")
	ask(t, tool, "boat")
	check("one")
	e.extra = 1
	ask(t, tool, "boat")
	if e.rests[0] != 0 || e.rests[1] == 0 || e.rests[2] != 0 {
		t.Errorf("other vectors: %v", e.rests)
	}
}

func TestFailedEmbeddingsFallBackToFullText(t *testing.T) {
	offline := errors.New("no network here")
	for want, e := range map[string]*embedder{
		"no network here": {missing: offline},
		"llm vectors cannot create embeddings: no network here": {fail: offline},
		"cannot create embeddings: no network":                  {fail2: offline},
	} {
		tool := e.tool(t, tool.Settings{Dir: plant(t, ships)}, embeddings)
		text, hits, _ := ask(t, tool, "hull")
		if places(hits) != "fram.md:5-7" || !strings.Contains(text, "[full-text search only:  "+want) && !strings.Contains(text, want) {
			t.Errorf("%s\n%s, want %q", places(hits), text, want)
		}
	}
	text, hits, _ := ask(t, build(t, tool.Settings{Dir: plant(t, ships)}, embeddings), "hull")
	if len(hits) != 1 || !strings.Contains(text, "llm vectors is not available") {
		t.Error(text)
	}
	e := &embedder{}
	ask(t, e.tool(t, tool.Settings{Dir: plant(t, ships)}, nil), "hull")
	if e.requests > 0 {
		t.Error("a tool without embeddings requested vectors")
	}
}

// A file that changes during a call is read again. A file that keeps changing is an error.
func TestFileChangesDuringCall(t *testing.T) {
	dir, changes := plant(t, ships), 1
	e := &embedder{}
	e.before = func() {
		if changes > 0 {
			changes--
			write(t, dir, "fram.md", "# Fram\n\nmoved down: "+strings.Repeat("x", changes)+"\n\n## Hull\n\nround\n")
		}
	}
	one := e.tool(t, tool.Settings{Dir: dir}, embeddings)
	if _, hits, _ := ask(t, one, "hull"); len(hits) == 0 || places(hits[:1]) != "fram.md:5-7" || !strings.HasSuffix(hits[0].Text, "round") {
		t.Errorf("%+v", hits)
	}
	changes = 100
	_, err := one.Call(t.Context(), &tool.Call{Args: json.RawMessage(`{"query":"hull"}`)})
	if err == nil || !strings.Contains(err.Error(), "call again") {
		t.Errorf("error %v", err)
	}
}
