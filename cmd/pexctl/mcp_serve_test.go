package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// startHost starts the real binary as an MCP host does, in another directory.
func startHost(t *testing.T, specs, home string) *sdk.ClientSession {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "mcp", "serve", filepath.Join(specs, "hello"), filepath.Join(specs, "refund-desk"), "--home", home)
	cmd.Env, cmd.Dir = append(os.Environ(), pexctlEnv()...), t.TempDir()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	c, err := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil || stderr.Len() > 0 {
			t.Error(err, stderr.String())
		}
	})
	return c
}

// callTool returns the text and the run of the result of a tool.
func callTool(t *testing.T, c *sdk.ClientSession, name string, arguments map[string]any) (said, run string) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	run, _ = res.Meta["pexctl.dev/run_id"].(string)
	return res.Content[0].(*sdk.TextContent).Text, run
}

// A host calls agents as tools. A run that waits for a decision outlives the host.
func TestMCPHostsCallAgents(t *testing.T) {
	specs, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"hello", "refund-desk"} {
		if err := os.CopyFS(filepath.Join(specs, name), os.DirFS(filepath.Join(top, "specs", name))); err != nil {
			t.Fatal(err)
		}
	}
	c := startHost(t, specs, home)
	if said, _ := callTool(t, c, "hello", nil); said != "17% of 2349.50 is 399.415." {
		t.Error(said)
	}
	said, run := callTool(t, c, "refund-desk", nil)
	if !strings.Contains(said, "waits for a decision") {
		t.Fatal(said)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = startHost(t, specs, home)
	if said, _ = callTool(t, c, "run_get", map[string]any{"run": run}); !strings.Contains(said, "waits for a decision") {
		t.Error(said)
	}
	if said, _ = callTool(t, c, "run_answer", map[string]any{"run": run, "answer": "approve"}); !strings.Contains(said, "87.93") {
		t.Error(said)
	}
}
