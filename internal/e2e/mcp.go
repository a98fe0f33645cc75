//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// MCPServer is the program of one of the tool servers that setup.sh got:
// "everything", "filesystem" or "memory".
func MCPServer(t testing.TB, name string) string {
	t.Helper()
	return mcpFile(t, ".bin", "mcp-server-"+name)
}

// MCPEverything starts server-everything behind streamable HTTP and gives its
// address.
func MCPEverything(t testing.TB) string {
	t.Helper()
	addr := freeAddress(t)
	c := exec.Command("node", mcpFile(t, "@modelcontextprotocol", "server-everything", "dist", "index.js"), "streamableHttp")
	c.Env = append(os.Environ(), "PORT="+addr[strings.LastIndex(addr, ":")+1:])
	start(t, c, "http://"+addr+"/mcp")
	return "http://" + addr + "/mcp"
}

// Conformance runs the protocol's conformance suite against a client and returns
// what the suite printed. scenarios are the suite's options that select them.
func Conformance(t testing.TB, client string, scenarios ...string) string {
	t.Helper()
	node := mcpFile(t, "node", "bin", "node")
	args := append([]string{mcpFile(t, "@modelcontextprotocol", "conformance", "dist", "index.js"), "client", "--command", client}, scenarios...)
	c := exec.CommandContext(t.Context(), node, args...)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(node)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("conformance: %v", err)
	}
	return string(out)
}

// Built is a program of this module, built for the test.
func Built(t testing.TB, pkg string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/pexctl/pex/"+pkg).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return path
}

func mcpFile(t testing.TB, parts ...string) string {
	t.Helper()
	file := cached(t, append([]string{"mcp", "node_modules"}, parts...)...)
	if _, err := os.Stat(file); err != nil {
		t.Fatal("no tool servers: internal/e2e/setup.sh mcp gets them")
	}
	return file
}
