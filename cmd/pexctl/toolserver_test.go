package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// toolserver is a server of tools for scripts, on stdio: it has the tools of the
// JSON file that is its argument, each time it is asked as the file is then, and
// gives back what they are called with. It notes in the file beside it, with
// .started behind its name, that it was started.
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
			result = map[string]any{"content": []any{map[string]string{"type": "text", "text": q.Params.Name + " was called with " + string(q.Params.Arguments)}}}
		}
		out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result})
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(string(out))
	}
}
