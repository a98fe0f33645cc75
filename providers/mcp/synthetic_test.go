package mcp_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

func TestResourcesAndPromptsBecomeTools(t *testing.T) {
	tests := []struct{ name, tool, args, want string }{
		{"list", "list_resources", `{}`, "note://one one text/plain\nnote://{id} note"},
		{"read", "read_resource", `{"uri":"note://one"}`, "the first note"},
		{"read bytes", "read_resource", `{"uri":"note://two"}`, "[resource note://two]\n[data application/octet-stream, 2 bytes]"},
		{"prompt", "prompt_greet", `{"who":"Ada"}`, "user: Greet Ada"},
	}
	for _, tr := range transports {
		set := tr.make(t, func(c *mcp.Config, _ *tool.Settings) { c.Resources, c.Prompts = true, []string{"gr*"} })
		for _, tt := range tests {
			t.Run(tr.name+" "+tt.name, func(t *testing.T) {
				defs, _ := list(t, set)
				if def := defs[tt.tool]; !def.BuiltIn {
					t.Error("the tool is not marked as built in")
				}
				out, err := call(context.Background(), set.Bind(defs[tt.tool]), tt.args)
				if err != nil {
					t.Fatal(err)
				}
				if out.Text != tt.want {
					t.Errorf("got %q, want %q", out.Text, tt.want)
				}
			})
		}
	}
}

func TestServersOwnToolTakesPrecedence(t *testing.T) {
	set := child(t, "own names", func(c *mcp.Config, _ *tool.Settings) { c.Resources = true })
	defs, l := list(t, set)
	n := 0
	for _, d := range l.Tools {
		if d.Name == "list_resources" {
			n++
		}
	}
	if n != 1 || defs["list_resources"].BuiltIn || !defs["read_resource"].BuiltIn {
		t.Errorf("%d tools list_resources, built in %t; read_resource built in %t", n, defs["list_resources"].BuiltIn, defs["read_resource"].BuiltIn)
	}
	if !strings.Contains(strings.Join(l.Warnings, " "), "the server has its own tool list_resources") {
		t.Errorf("warnings %q", l.Warnings)
	}
	out, err := call(context.Background(), set.Bind(defs["list_resources"]), `{"text":""}`)
	if err != nil || out.Text != "the server's own" {
		t.Errorf("output %v, error %v", out, err)
	}
}

func TestUnknownResource(t *testing.T) {
	set := child(t, "plain", func(c *mcp.Config, _ *tool.Settings) { c.Resources = true })
	_, err := call(context.Background(), find(t, set, "read_resource"), `{"uri":"other://x"}`)
	if err == nil || unavailable(err) || !strings.Contains(err.Error(), "not found") {
		t.Errorf("error %v", err)
	}
}

func TestSyntheticToolsAreOptIn(t *testing.T) {
	defs, _ := list(t, child(t, "plain", func(c *mcp.Config, _ *tool.Settings) { c.Prompts = []string{"other*"} }))
	for _, name := range []string{"list_resources", "read_resource", "prompt_greet"} {
		if _, ok := defs[name]; ok {
			t.Errorf("there is a tool %s", name)
		}
	}
}

func TestIncludeKeepsSyntheticTools(t *testing.T) {
	set := child(t, "plain", func(c *mcp.Config, _ *tool.Settings) {
		c.Include, c.Resources, c.Prompts = []string{"echo"}, true, []string{"greet"}
	})
	want := []string{"echo", "list_resources", "read_resource", "prompt_greet"}
	if got := set.Rules().Include; !slices.Equal(got, want) {
		t.Errorf("include %q, want %q", got, want)
	}
}

func TestRootsAreSent(t *testing.T) {
	for _, roots := range [][]string{nil, {"."}} {
		var dir string
		set := child(t, "plain", func(c *mcp.Config, s *tool.Settings) { c.Roots, dir = roots, s.Dir })
		out, err := call(context.Background(), find(t, set, "roots"), `{"text":""}`)
		switch {
		case roots == nil && err == nil && out.Text != "":
			t.Errorf("it received %q", out.Text)
		case roots != nil && (err != nil || out.Text != "file://"+dir):
			t.Errorf("it received %v, error %v", out, err)
		}
	}
}

func TestSampling(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			set := tr.make(t, func(c *mcp.Config, _ *tool.Settings) { c.Sampling = &mcp.Sample{} })
			var messages []model.Message
			var limit int
			out, err := find(t, set, "infer").Call(context.Background(), &tool.Call{
				Args: []byte(`{"text":"Why?"}`),
				Sample: func(_ context.Context, m []model.Message, n int) (*model.Reply, error) {
					messages, limit = m, n
					return &model.Reply{Text: "Because.", Model: "m-1", Stop: model.MaxTokens}, nil
				},
			})
			if err != nil || out.Text != "Because. by m-1, maxTokens" {
				t.Errorf("output %v, error %v", out, err)
			}
			if len(messages) != 2 || messages[0].Role != model.System || messages[1].Text.String() != "Why?" || limit != 50 {
				t.Errorf("messages %+v, limit %d", messages, limit)
			}
		})
	}
}

func TestDisabledSamplingIsNotOffered(t *testing.T) {
	_, err := call(context.Background(), find(t, child(t, "plain", nil), "infer"), `{"text":"Why?"}`)
	if err == nil {
		t.Error("the server could call an llm")
	}
}

func TestProgressIsForwarded(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			progress := make(chan string, 10)
			_, err := find(t, tr.make(t, nil), "steps").Call(context.Background(), &tool.Call{
				Args: []byte(`{"text":""}`), Progress: func(m string) { progress <- m },
			})
			if err != nil {
				t.Fatal(err)
			}
			close(progress)
			if got := slices.Collect(chanOf(progress)); !slices.Equal(got, []string{"first", "second", "3 of 3"}) {
				t.Errorf("progress %q", got)
			}
		})
	}
}

func chanOf(c <-chan string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for v := range c {
			if !yield(v) {
				return
			}
		}
	}
}
