package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/cmd/pexctl/toolcmd"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/host"
)

// toolSpec has one tool of each kind; %q are a server and its file, and an
// address.
const toolSpec = `
apiVersion: pex/v1
kind: Agent
metadata: {name: bench}
llms: {main: {provider: scripted, options: {replies: [{text: done}]}}}
tools:
  calculator: {}
  command: {argv: ["true"], effect: read}
  stdio: {type: mcp, command: [%q, %q], effect: read}
  web: {type: mcp, url: %q, effect: read}
`

// BenchmarkToolCall measures one tool call by a node, in memory: argument checks,
// guards, and the output limit. The server is started once.
func BenchmarkToolCall(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "spec.yaml")
	server, tools := stdioEcho(b, dir)
	if err := os.WriteFile(file, fmt.Appendf(nil, toolSpec, server, tools, webEcho(b)), 0o600); err != nil {
		b.Fatal(err)
	}
	p, spec, found := dsl.Compile(file, dsl.Options{Catalog: components().Catalog})
	if found.Failed() {
		b.Fatal(found.String())
	}
	for _, call := range []struct{ name, tool, args string }{
		{"builtin", "calculator", `{"expression":"17 * 3"}`},
		{"command", "command", `{}`},
		{"mcp-stdio", "stdio__echo", `{"text":"hi"}`},
		{"mcp-http", "web__echo", `{"text":"hi"}`},
	} {
		b.Run(call.name, func(b *testing.B) {
			host, err := host.New(toolcmd.WithOnlyTools(p, call.tool), host.Settings{Catalog: components(), Dir: spec.Dir, Root: spec.Root, Env: os.Getenv})
			if err != nil {
				b.Fatal(err)
			}
			defer host.Close()
			b.ReportAllocs()
			alone := *toolcmd.WithOnlyTools(p, call.tool)
			alone.Graph = &graph.Graph[engine.Condition]{Start: "calls", Nodes: []graph.Node{{ID: "calls", Type: "calls"}}}
			alone.Nodes = map[string]engine.Node{"calls": &callsOf{b, call.tool, call.args}}
			if res := runtime.Run(b.Context(), &alone, engine.Input{RunID: "bench"}, host, runtime.Options{}); res.StopReason.Code != stop.Answered {
				b.Fatal(res.StopReason, res.Warnings)
			}
		})
	}
}

// callsOf is a node that calls a tool repeatedly.
type callsOf struct {
	b          *testing.B
	tool, args string
}

// Run implements engine.Node.
func (c *callsOf) Run(s engine.Scope) error {
	n := 0
	for c.b.Loop() {
		n++
		rec, _, err := s.Tool(fmt.Sprintf("call.%d", n), engine.Invocation{Tool: c.tool, Args: []byte(c.args)})
		if err != nil || rec.Status != tool.CallOK {
			return fmt.Errorf("%s: %w: %s", c.tool, err, rec.Text())
		}
	}
	return nil
}

// stdioEcho returns a server that returns its arguments, and the file of its
// tools.
func stdioEcho(b *testing.B, dir string) (server, tools string) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	server, tools = filepath.Join(dir, "toolserver"), filepath.Join(dir, "tools.json")
	if err := os.Symlink(self, server); err != nil {
		b.Fatal(err)
	}
	list := `[{"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]`
	if err := os.WriteFile(tools, []byte(list), 0o600); err != nil {
		b.Fatal(err)
	}
	return server, tools
}

// webEcho returns the address of such a server on this machine.
func webEcho(b *testing.B) string {
	b.Helper()
	type said struct {
		Text string `json:"text"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in said) (*mcp.CallToolResult, said, error) {
		return nil, in, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	b.Cleanup(web.Close)
	return web.URL
}
