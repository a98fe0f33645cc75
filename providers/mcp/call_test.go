package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/tool"
)

func TestListReturnsToolsAsDefined(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			defs, l := list(t, tr.make(t, nil))
			if l.Server != "peer 1.2" || len(l.Warnings) > 0 {
				t.Errorf("server %q, warnings %q", l.Server, l.Warnings)
			}
			yes, no := true, false
			got := defs["echo"]
			got.Input = nil
			want := tool.Definition{Name: "echo", Description: "Says it again.", Hints: tool.Hints{ReadOnly: &yes, Idempotent: &no, OpenWorld: &yes}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if got := string(defs["echo"].Input); !strings.Contains(got, `"type":"string"`) {
				t.Errorf("input schema %s", got)
			}
			if !strings.Contains(string(defs["add"].Output), `"sum"`) {
				t.Errorf("output schema %s", defs["add"].Output)
			}
		})
	}
}

func TestCall(t *testing.T) {
	tests := []struct {
		name, tool, args string
		want             tool.Output
	}{
		{"text", "echo", `{"text":"hi"}`, tool.Output{Text: "you said: hi"}},
		{"structured", "add", `{"A":1,"B":2}`, tool.Output{Text: `{"sum":3}`, Data: json.RawMessage(`{"sum":3}`)}},
		{"blocks", "blocks", `{"text":""}`, tool.Output{Text: "one\n[image image/png, 12,345 bytes]\n[audio audio/wav, 3 bytes]\n[resource notes file:///notes.txt]\n[resource file:///a.txt]\ninside"}},
		{"key and arguments", "meta", `{"text":"x"}`, tool.Output{Text: `run-1/tool.0 {"text":"x"}`}},
	}
	for _, tr := range transports {
		set := tr.make(t, nil)
		for _, tt := range tests {
			t.Run(tr.name+" "+tt.name, func(t *testing.T) {
				out, err := call(context.Background(), find(t, set, tt.tool), tt.args)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, *out); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestGuidedCallSendsPlanContextInMeta(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			one := find(t, tr.make(t, nil), "context")
			c := &tool.Call{Args: json.RawMessage(`{"text":""}`), Progress: func(string) {}}
			for _, tt := range []struct {
				context *tool.PlanContext
				want    string
			}{
				{nil, "null"},
				{
					&tool.PlanContext{Objective: "o", Goal: "g", Plan: []tool.PlanContextStep{{ID: "a", Goal: "g", Status: "current"}}},
					`{"goal":"g","objective":"o","plan":[{"goal":"g","id":"a","status":"current"}]}`,
				},
			} {
				c.Context = tt.context
				out, err := one.Call(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, out.Text); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestCallFails(t *testing.T) {
	tests := []struct{ name, tool, args, want string }{
		{"the tool's own failure", "fail", `{"text":""}`, "the disk is full"},
		{"arguments rejected by the server", "echo", `{"text":1}`, "text"},
		{"not an object", "echo", `[1]`, "the arguments are not a JSON object"},
	}
	for _, tr := range transports {
		set := tr.make(t, nil)
		for _, tt := range tests {
			t.Run(tr.name+" "+tt.name, func(t *testing.T) {
				_, err := call(context.Background(), find(t, set, tt.tool), tt.args)
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q in it", err, tt.want)
				}
			})
		}
	}
}

func TestMemberConformance(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			enginetest.ToolSuite(t, find(t, tr.make(t, nil), "echo"), `{"text":"a"}`, `{"text":"b"}`)
		})
	}
}
