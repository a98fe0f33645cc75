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
	mega  = 1 << 20
	storm = 100_000 // messages at once
)

// floods are servers that say too much.
func floods() map[string]Mode {
	many := func(n int, s string, then string) func(*peer, message) {
		return func(p *peer, m message) {
			chunk := strings.Repeat(s, 1000)
			for range n / 1000 {
				p.raw(chunk)
			}
			p.answer(m, text(then))
		}
	}
	return map[string]Mode{
		"stderr_flood": {Doc: "writes 100 MB to stderr before it answers anything", start: func(*peer) {
			line := strings.Repeat("noise ", 170) + "\n"
			chunk := strings.Repeat(line, mega/len(line)+1)
			for range 100 {
				_, _ = io.WriteString(os.Stderr, chunk)
			}
		}},
		"stdout_banner": {Doc: "greets on stdout before it speaks the protocol", start: func(p *peer) {
			p.raw("Welcome to mcptest!\n\n  listening on stdio\n")
		}},
		"stdout_garbage": call("writes 100,000 lines that are no messages", many(storm, "debug: all is well\n", "after garbage")),
		"line_50mb":      call("answers a line of 50 MB that is no message", huge("x", "\n")),
		"line_endless":   call("answers a line that does not end", func(p *peer, _ message) { endless(p) }),
		"result_50mb": call("gives a result of 50 MB", func(p *peer, m message) {
			p.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID))
			huge("a", `"}]}}`+"\n")(p, m)
		}),
		"result_10mb": call("gives a result of 10 MB", func(p *peer, m message) {
			p.answer(m, text("begin "+strings.Repeat("b", 10*mega)+" end"))
		}),
		"list_changed_storm": call("says 100,000 times that its tools have changed", many(storm,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n", "after the storm")),
		"progress_storm": call("reports 100,000 times", func(p *peer, m message) {
			many(storm, report(m)+"\n", "after the reports")(p, m)
		}),
		"log_storm": call("logs 100,000 times", many(storm,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"well"}}`+"\n", "after the log")),
		"unknown_storm": call("sends 100,000 unknown notifications", many(storm,
			`{"jsonrpc":"2.0","method":"notifications/nonsense","params":{}}`+"\n", "after nonsense")),
	}
}

// report is a message on how a call goes.
func report(m message) string {
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

// huge writes 50 MB of one letter, and an end.
func huge(letter, end string) func(*peer, message) {
	return func(p *peer, _ message) {
		chunk := strings.Repeat(letter, mega)
		for range 50 {
			p.raw(chunk)
		}
		p.raw(end)
	}
}

func endless(p *peer) {
	chunk := strings.Repeat("y", mega)
	for {
		if _, err := io.WriteString(p.out, chunk); err != nil {
			return
		}
	}
}
