package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

// steps is a node that calls tools in order.
type steps struct {
	calls []engine.Invocation
	recs  []tool.Record
}

func (n *steps) Run(s engine.Scope) error {
	n.recs = nil
	for i, c := range n.calls {
		rec, _, err := s.Tool("tool."+string(rune('0'+i)), c)
		if err != nil {
			return err
		}
		n.recs = append(n.recs, rec)
	}
	return nil
}

func invoke(tool, args string) engine.Invocation {
	return engine.Invocation{Tool: tool, Args: json.RawMessage(args)}
}

// runCalls runs calls of a server's tools and resumes the journal if it has records. It returns the calls' status and
// text.
func runCalls(t *testing.T, set tool.Toolset, j *journal.Memory, o runtime.Options, h engine.Host, calls ...engine.Invocation) (*engine.Result, []string) {
	t.Helper()
	const id = "steps"
	node := &steps{calls: calls}
	p := &engine.Program{
		Name: "t", Graph: &graph.Graph[engine.Condition]{Start: id, Nodes: []graph.Node{{ID: id, Type: id}}},
		Nodes:  map[string]engine.Node{id: node},
		Tools:  []tool.Spec{{Name: "peer", Type: "mcp"}},
		Models: []engine.ModelSpec{{Name: "small", Cost: &model.Cost{}}},
		Limits: engine.Limits{MaxTokens: 100_000},
	}
	h.Tools = []tool.Binding{{Spec: &p.Tools[0], Tool: set}}
	o.Journal = j
	res := runtime.Run(t.Context(), p, engine.Input{RunID: "r"}, h, o)
	var texts []string
	for _, rec := range node.recs {
		texts = append(texts, string(rec.Status)+": "+rec.Text())
	}
	return res, texts
}

func readOverrides(c *mcp.Config, _ *tool.Settings) {
	c.Overrides = map[string]mcp.Override{"ask": {Effect: "read"}, "echo": {Effect: "read"}}
}

func TestRunHasToolsAllowedByTheRules(t *testing.T) {
	set := child(t, "plain", func(c *mcp.Config, _ *tool.Settings) {
		c.Include, c.Exclude, c.Resources = []string{"e*", "add"}, []string{"env"}, true
		c.Overrides = map[string]mcp.Override{"echo": {Description: "Mine.", Effect: "idempotent"}}
	})
	p := &engine.Program{Tools: []tool.Spec{{Name: "peer"}}}
	tools, warnings, err := runtime.Tools(t.Context(), p, engine.Input{RunID: "r"}, engine.Host{Tools: []tool.Binding{{Spec: &p.Tools[0], Tool: set}}})
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	var got []string
	for i := range tools {
		info := tools[i].Info()
		got = append(got, info.Name+" "+string(info.Effect)+" "+info.Description)
	}
	want := []string{
		"peer__add write Adds.",
		"peer__echo idempotent Mine.",
		"peer__list_resources read Lists the resources and resource templates of the server.",
		"peer__read_resource read Reads a resource of the server. Use list_resources to get the URIs.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The process may end while a human decides. Another process resumes with the tools that the run started with and
// restarts the server.
func TestAnswerInAnotherProcess(t *testing.T) {
	calls := []engine.Invocation{invoke("peer__echo", `{"text":"one"}`), invoke("peer__ask", `{"text":"x"}`), invoke("peer__echo", `{"text":"two"}`)}
	for _, tt := range []struct {
		name, mode string
		want       []string
	}{
		{"the same server", "plain", []string{"ok: you said: one", `ok: accept {"age":30,"name":"Ada"}`, "ok: you said: two"}},
		{"a server that has changed", "changed", []string{"ok: you said: one", `ok: accept {"age":30,"name":"Ada"}`, "error: the server changed tool echo"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &journal.Memory{RoundTrip: true}
			first := child(t, "plain", readOverrides)
			res, _ := runCalls(t, first, j, runtime.Options{}, engine.Host{}, calls...)
			if res.Status != stop.RunInterrupted || len(res.Interrupts) != 1 || res.Interrupts[0].Kind != interrupt.Elicitation {
				t.Fatalf("%s %+v %+v", res.Status, res.StopReason, res.Interrupts)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			answer, _ := json.Marshal(interrupt.Parse(`edit:{"name":"Ada"}`))
			o := runtime.Options{Answers: map[string]json.RawMessage{res.Interrupts[0].Path: answer}}
			res, got := runCalls(t, child(t, tt.mode, readOverrides), j, o, engine.Host{}, calls...)
			if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
				t.Errorf("%s %+v\ngot  %q\nwant %q", res.Status, res.StopReason, got, tt.want)
			}
		})
	}
}

// A definition that contains a secret is redacted in the journal and still counts as unchanged.
func TestSecretInDefinition(t *testing.T) {
	h := engine.Host{Secrets: secret.New(map[string]string{"WORD": "Says it again"})}
	res, got := runCalls(t, child(t, "plain", readOverrides), &journal.Memory{}, runtime.Options{}, h, invoke("peer__echo", `{"text":"one"}`))
	if want := []string{"ok: you said: one"}; !slices.Equal(got, want) {
		t.Errorf("%+v, got %q, want %q", res.StopReason, got, want)
	}
}

// echoModel answers every request.
type echoModel struct{ requests int }

func (m *echoModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.requests++
	return &model.Reply{Text: "Because.", Model: "m-1", Stop: model.EndTurn, Usage: model.Tokens{Input: 20, Output: 5}}, nil
}

func TestSamplingCountsAsUsage(t *testing.T) {
	set := child(t, "plain", func(c *mcp.Config, _ *tool.Settings) {
		c.Sampling = &mcp.Sample{}
		c.Sampling.LLM.Name = "small"
	})
	m := &echoModel{}
	res, got := runCalls(t, set, &journal.Memory{}, runtime.Options{}, engine.Host{Models: map[string]model.Model{"small": m}}, invoke("peer__infer", `{"text":"Why?"}`))
	if want := []string{"ok: Because. by m-1, endTurn"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if m.requests != 1 || res.Usage.Input != 20 || res.Usage.Output != 5 {
		t.Errorf("%d requests, usage %+v", m.requests, res.Usage)
	}
}

func TestUnavailableServerIsAWarning(t *testing.T) {
	res, got := runCalls(t, child(t, "dies", nil), &journal.Memory{}, runtime.Options{}, engine.Host{}, invoke("peer__echo", `{"text":"x"}`))
	if len(got) != 1 || !strings.Contains(got[0], `unknown tool "peer__echo"`) {
		t.Errorf("%+v, calls %q", res.StopReason, got)
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], ": unavailable: ") || !strings.Contains(res.Warnings[0], "no database") {
		t.Errorf("warnings %q", res.Warnings)
	}
}
