//go:build unix

package mcptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
)

// peer is the server's end of a conversation on stdio.
type peer struct {
	mode Mode
	in   *bufio.Reader

	mu  sync.Mutex // one line at a time
	out *os.File
}

// message is a request, a notification, or an answer to what the server asked.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// serve reads until the client is gone.
func (p *peer) serve() {
	if p.mode.start != nil {
		p.mode.start(p)
	}
	for {
		line, err := p.in.ReadBytes('\n')
		if len(line) > 0 {
			var m message
			if json.Unmarshal(line, &m) == nil {
				p.hear(m)
			}
		}
		if err != nil {
			break
		}
	}
	if p.mode.end != nil {
		p.mode.end(p)
	}
}

// hear gives a message to the mode, or answers as a good server does.
func (p *peer) hear(m message) {
	if do := p.mode.on[m.Method]; do != nil {
		do(p, m)
		return
	}
	if m.Method == "" || len(m.ID) == 0 {
		return // an answer, or a notification
	}
	p.line(good(m))
}

// good is the answer of a server with one tool, echo.
func good(m message) string {
	switch m.Method {
	case "initialize":
		var p struct {
			Version string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &p) // an absent version is answered with none
		return result(m.ID, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mcptest","version":"1"}}`, p.Version))
	case "tools/list":
		return result(m.ID, `{"tools":[`+echo+`]}`)
	case "tools/call":
		return result(m.ID, text("echoed"))
	case "ping":
		return result(m.ID, "{}")
	}
	return failure(m.ID, -32601, "method not found")
}

// echo is the definition of the one tool.
const echo = `{"name":"echo","description":"Gives back what it is given.","inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"What comes back."}}}}`

func result(id json.RawMessage, body string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, body)
}

func failure(id json.RawMessage, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

// text is the result of a call that gave a text.
func text(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, quoted)
}

// line writes one message. A client that has gone away is no trouble of ours.
func (p *peer) line(s string) { p.raw(s + "\n") }

func (p *peer) raw(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.out, s)
}

// answer is line as a mode uses it: the result of the message's request.
func (p *peer) answer(m message, body string) { p.line(result(m.ID, body)) }
