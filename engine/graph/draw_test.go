package graph_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/graph"
)

// sampleGraph returns a graph that is hard to draw: with back edges, a loop, parallel
// edges, long edges and long guards.
func sampleGraph() *graph.Graph[string] {
	return &graph.Graph[string]{
		Start: "fetch",
		Nodes: []graph.Node{{ID: "fetch", Type: "tool"}, {ID: "route", Type: "router"}, {ID: "planner", Type: "planner"}, {ID: "executor", Type: "executor"}},
		Edges: []graph.Edge[string]{
			{From: "fetch", To: graph.End, Label: `step.status == "failed"`},
			{From: "fetch", To: "route"},
			{From: "route", To: graph.End, Label: `reply.text == "a"`},
			{From: "route", To: graph.End, Label: `reply.text == "b"`},
			{From: "route", To: "planner"},
			{From: "planner", To: "executor"},
			{From: "executor", To: "executor", Label: "len(plan.remaining) > 0", Each: true},
			{From: "executor", To: "fetch", Label: `run.no_progress > 3 and step.status in ["failed", "limit", "loop", "timeout"] and run.elapsed < 600`},
			{From: "executor", To: graph.End},
		},
	}
}

// walk returns a path through sampleGraph that goes back once and stops before the end.
func walk() *graph.Path {
	w := &graph.Path{Status: "stopped", Reason: "max_steps (limits.max_steps)"}
	for _, id := range []string{"fetch", "route", "planner", "executor", "executor", "planner"} {
		w.Visit(id)
	}
	for _, t := range []graph.EdgeCount{
		{From: "fetch", To: "route"},
		{From: "route", To: "planner"},
		{From: "planner", To: "executor"},
		{From: "executor", To: "executor", When: "len(plan.remaining) > 0"},
		{From: "executor", To: "planner", Jump: true},
		{From: "executor", To: "gone"},
	} {
		w.Take(t)
	}
	return w
}

func TestDrawings(t *testing.T) {
	goldentest.Each(t, "testdata/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		d := sampleGraph().Draw(nil)
		switch {
		case strings.HasPrefix(a.Comment(), "A walk"):
			d = sampleGraph().Draw(walk())
		case strings.HasPrefix(a.Comment(), "Notes"):
			d = sampleGraph().Draw(nil).Annotate(notes())
		case strings.HasPrefix(a.Comment(), "A noted walk"):
			d = sampleGraph().Draw(walk()).Annotate(notes())
		}
		a.Want(t, "mermaid", d.Mermaid())
		a.Want(t, "dot", d.DOT())
		b, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		a.Want(t, "json", string(b)+"\n")
		a.Want(t, "svg", d.SVG("desk"))
		a.Want(t, "text", d.Text("desk", graph.TextOptions{Columns: 80}))
		a.Want(t, "narrow", d.Text("desk", graph.TextOptions{Columns: 40, ASCII: true}))
	})
}

// notes returns notes of all kinds for the nodes of sampleGraph.
func notes() map[string][]graph.Note {
	return map[string][]graph.Note{
		"":      {{Kind: graph.LimitNote, Text: "max_steps 20"}, {Kind: graph.LimitNote, Text: "max_cost $0.5"}},
		"fetch": {{Kind: graph.ToolNote, Text: "http_get"}},
		"route": {{Kind: graph.QuestionNote, Text: "Which of the two is it, <a> or \"b\"?"}, {Kind: graph.DetailNote, Text: "chooses a | b"}},
		"planner": {
			{Kind: graph.GuardNote, Text: "after_plan: replan when len(plan.remaining) > 8 (short)"},
			{Kind: graph.PromptNote, Text: "prompts/plan.md"},
			{Kind: graph.ApprovalNote, Text: "always"},
			{Kind: graph.ModelNote, Text: "gpt-5.4-mini (main)"},
		},
		"executor": {
			{Kind: graph.ToolNote, Text: "calculator"},
			{Kind: graph.ToolNote, Text: "search_files"},
			{Kind: graph.ToolNote, Text: "json_query"},
			{Kind: graph.ToolNote, Text: "refund", Approval: "tool.args.amount > 50"},
			{Kind: graph.ToolNote, Text: "send", Approval: "always"},
			{Kind: graph.AgentNote, Text: "clerk (clerk.yaml)"},
		},
	}
}

func TestTextFitsItsColumns(t *testing.T) {
	for _, columns := range []int{24, 40, 80, 200} {
		for _, ascii := range []bool{false, true} {
			text := sampleGraph().Draw(walk()).Annotate(notes()).Text("desk · run r-1", graph.TextOptions{Columns: columns, ASCII: ascii})
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				if n := len([]rune(line)); n > columns {
					t.Errorf("%d columns: a line of %d: %s", columns, n, line)
				}
				if ascii && strings.ContainsFunc(line, func(r rune) bool { return r > 127 && r != '·' && r != '…' }) {
					t.Errorf("not ASCII: %s", line)
				}
			}
		}
	}
}

func TestTextHasNoControlCharacters(t *testing.T) {
	evil := "a\x1b[2J\u009b\r\nb\u202e"
	d := named(evil).Draw(nil).Annotate(map[string][]graph.Note{"": {{Kind: graph.LimitNote, Text: evil}}, "a": {{Kind: graph.ToolNote, Text: evil, Approval: evil}}})
	if text := d.Text(evil, graph.TextOptions{Columns: 60}); strings.ContainsAny(text, "\x1b\u009b\r\u202e") {
		t.Errorf("%q", text)
	}
}

func TestMissingListsUnknownNodesAndEdges(t *testing.T) {
	w := walk()
	w.Visit("gone")
	got := sampleGraph().Draw(w).Missing()
	if d := cmp.Diff([]string{"node gone", "edge executor -> gone"}, got); d != "" {
		t.Error(d)
	}
	if got := sampleGraph().Draw(nil).Missing(); got != nil {
		t.Errorf("without a walk: %v", got)
	}
}

// elements counts the elements of a picture. It fails on invalid XML.
func elements(t *testing.T, svg string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			out[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
					t.Errorf("attribute %s", a.Name.Local)
				}
			}
		}
	}
}

func TestHostileLabelsAreEscapedAndClipped(t *testing.T) {
	for _, tt := range []struct{ name, label string }{
		{"markup", `</text><script>alert(1)</script><a href="javascript:x" onload='y'>&amp;`},
		{"a section", "<![CDATA[ ]]> <!-- --> <?pi ?> ]]>"},
		{"long", strings.Repeat("x", 10_000)},
		{"many words", strings.Repeat("or a ", 10_000)},
		{"controls", "a\x00b\x1bc\u202ed\ufffee\xff\n\tf"},
		{"wide", strings.Repeat("漢字🙂", 50)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			svg := named(tt.label).Draw(nil).SVG(tt.label)
			found, plain := elements(t, svg), elements(t, named("x").Draw(nil).SVG("x"))
			if found["script"]+found["a"] > 0 || found["path"] != plain["path"] || found["g"] != plain["g"] {
				t.Errorf("elements %v, of a plain label %v", found, plain)
			}
			if len(svg) > 20_000 {
				t.Errorf("%d bytes", len(svg))
			}
		})
	}
}

func named(label string) *graph.Graph[string] {
	return &graph.Graph[string]{
		Start: "a", Nodes: []graph.Node{{ID: "a", Type: label}, {ID: label, Type: "x"}},
		Edges: []graph.Edge[string]{{From: "a", To: label, Label: label}, {From: label, To: "a", Label: label}, {From: label, To: graph.End}},
	}
}

// FuzzSVG checks that pictures are XML without scripts, and deterministic.
func FuzzSVG(f *testing.F) {
	f.Add("a", "</title><script/>", uint16(0x1234))
	f.Add("planner", `reply.result != ""`, uint16(7))
	f.Fuzz(func(t *testing.T, id, label string, shape uint16) {
		g := &graph.Graph[string]{Start: "n0", Nodes: []graph.Node{{ID: "n0", Type: label}, {ID: "n1", Type: "n1"}, {ID: "n2", Type: id}}}
		ends := []string{"n0", "n1", "n2", graph.End}
		for i := range 8 {
			if shape>>(2*i)&3 != 0 {
				g.Edges = append(g.Edges, graph.Edge[string]{From: ends[i%3], To: ends[shape>>(2*i)&3], Label: label})
			}
		}
		d := g.Draw(&graph.Path{Visits: map[string]int{id: 3}, At: id, Status: label})
		d.Annotate(map[string][]graph.Note{"n0": {{Kind: graph.ToolNote, Text: label, Approval: id}, {Kind: graph.GuardNote, Text: id}}})
		for line := range strings.Lines(d.Text(id, graph.TextOptions{Columns: 40})) {
			if strings.ContainsAny(line, "\x1b\r") {
				t.Errorf("%q", line)
			}
		}
		svg := d.SVG(id)
		if found := elements(t, svg); found["script"] > 0 || found["svg"] != 1 {
			t.Errorf("elements %v", found)
		}
		if again := d.SVG(id); again != svg {
			t.Error("drawing again returns another picture")
		}
	})
}

func TestReservedWordsAsNodeIDs(t *testing.T) {
	g := &graph.Graph[string]{
		Start: "start", Nodes: []graph.Node{{ID: "start", Type: "x"}, {ID: "class", Type: "x"}, {ID: "end_", Type: "x"}, {ID: "a--b", Type: "x"}},
		Edges: []graph.Edge[string]{{From: "start", To: "class"}, {From: "class", To: "end_"}, {From: "end_", To: "a--b"}, {From: "a--b", To: graph.End}},
	}
	want := `flowchart TD
    start_([start]) --> start
    start["start (x)"]
    class_["class (x)"]
    end_["end_ (x)"]
    a-_b_["a--b (x)"]
    end__([end])
    start --> class_
    class_ --> end_
    end_ --> a-_b_
    a-_b_ --> end__
`
	if got := g.Mermaid(); got != want {
		t.Errorf("Mermaid:\n%s\nwant\n%s", got, want)
	}
	if got := g.DOT(); !strings.Contains(got, `start_ [shape=circle, label=start];`) || !strings.Contains(got, `start_ -> "start";`) {
		t.Errorf("DOT:\n%s", got)
	}
}
