//go:build unix

package mcptest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	megabyte  = 1 << 20
	floodSize = 100_000 // messages in a flood
)

// floods returns servers that send too much.
func floods() map[string]Mode {
	many := func(n int, s string, then string) func(*server, message) {
		return func(p *server, m message) {
			chunk := strings.Repeat(s, 1000)
			for range n / 1000 {
				p.write(chunk)
			}
			p.answer(m, text(then))
		}
	}
	return map[string]Mode{
		"stderr_flood": {Doc: "writes 100 MB to stderr before it answers anything", start: func(*server) {
			line := strings.Repeat("noise ", 170) + "\n"
			chunk := strings.Repeat(line, megabyte/len(line)+1)
			for range 100 {
				_, _ = io.WriteString(os.Stderr, chunk)
			}
		}},
		"stdout_banner": {Doc: "prints a banner to stdout before the first message", start: func(p *server) {
			p.write("Welcome to mcptest!\n\n  listening on stdio\n")
		}},
		"stdout_garbage": call("writes 100,000 lines that are not messages", many(floodSize, "debug: all is well\n", "after garbage")),
		"line_50mb":      call("answers with a line of 50 MB that is not a message", huge("x", "\n")),
		"line_endless":   call("answers with an endless line", func(p *server, _ message) { endless(p) }),
		"result_50mb": call("returns a result of 50 MB", func(p *server, m message) {
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID))
			huge("a", `"}]}}`+"\n")(p, m)
		}),
		"result_10mb": call("returns a result of 10 MB", func(p *server, m message) {
			p.answer(m, text("begin "+strings.Repeat("b", 10*megabyte)+" end"))
		}),
		"list_changed_storm": call("announces 100,000 times that its tools have changed", many(floodSize,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n", "after the storm")),
		"progress_storm": call("reports progress 100,000 times", func(p *server, m message) {
			many(floodSize, progressOf(m)+"\n", "after the reports")(p, m)
		}),
		"log_storm": call("logs 100,000 times", many(floodSize,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"well"}}`+"\n", "after the log")),
		"unknown_storm": call("sends 100,000 unknown notifications", many(floodSize,
			`{"jsonrpc":"2.0","method":"notifications/nonsense","params":{}}`+"\n", "after nonsense")),
	}
}

// progressOf returns a progress notification for a call.
func progressOf(m message) string {
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &p) != nil || len(p.Meta.Token) == 0 {
		p.Meta.Token = json.RawMessage("0") // no progress token was sent
	}
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(p.Meta.Token) + `,"progress":1,"message":"on"}}`
}

// huge writes 50 MB of one letter, then end.
func huge(letter, end string) func(*server, message) {
	return func(p *server, _ message) {
		chunk := strings.Repeat(letter, megabyte)
		for range 50 {
			p.write(chunk)
		}
		p.write(end)
	}
}

func endless(p *server) {
	chunk := strings.Repeat("y", megabyte)
	for {
		if _, err := io.WriteString(p.out, chunk); err != nil {
			return
		}
	}
}
