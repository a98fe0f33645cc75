package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// toolserver is an MCP server for scripts, on stdio. It has the tools in the JSON
// file that is its argument, read for each request, and returns the arguments of
// calls. It records its start in a file with the suffix .started, and
// the _meta of calls in one with the suffix .meta.
func toolserver() {
	file := os.Args[1]
	if f, err := os.OpenFile(file+".started", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(f, "started")
		_ = f.Close()
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string          `json:"protocolVersion"`
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
				Meta      json.RawMessage `json:"_meta"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &q) != nil || q.ID == nil {
			continue
		}
		var result any = struct{}{}
		switch q.Method {
		case "initialize":
			result = map[string]any{
				"protocolVersion": q.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]string{"name": "toolserver", "version": "1.0"},
			}
		case "tools/list":
			b, err := os.ReadFile(file)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			result = map[string]any{"tools": json.RawMessage(b)}
		case "tools/call":
			_ = os.WriteFile(file+".meta", q.Params.Meta, 0o600)
			result = map[string]any{"content": []any{map[string]string{"type": "text", "text": q.Params.Name + " was called with " + string(q.Params.Arguments)}}}
		}
		out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result})
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(string(out))
	}
}
