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

// server is the server's side of a session on stdio.
type server struct {
	mode Mode
	in   *bufio.Reader

	mu  sync.Mutex // guards writes, one line at a time
	out *os.File
}

// message is a request, a notification, or a response to a request of the server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// serve reads messages until the client disconnects.
func (p *server) serve() {
	if p.mode.start != nil {
		p.mode.start(p)
	}
	for {
		line, err := p.in.ReadBytes('\n')
		if len(line) > 0 {
			var m message
			if json.Unmarshal(line, &m) == nil {
				p.handle(m)
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

// handle passes a message to the mode, or answers it correctly.
func (p *server) handle(m message) {
	if do := p.mode.on[m.Method]; do != nil {
		do(p, m)
		return
	}
	if m.Method == "" || len(m.ID) == 0 {
		return // a response or a notification
	}
	p.line(goodAnswer(m))
}

// goodAnswer returns the answer of a server with one tool, echo.
func goodAnswer(m message) string {
	switch m.Method {
	case "initialize":
		var p struct {
			Version string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &p) // without a version, the answer has none either
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

// echo is the definition of the tool.
const echo = `{"name":"echo","description":"Returns its input.","inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"The text to return."}}}}`

func result(id json.RawMessage, body string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, body)
}

func failure(id json.RawMessage, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

// text returns the result of a call with a text.
func text(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, quoted)
}

// line writes one message. It ignores errors, because the client may have disconnected.
func (p *server) line(s string) { p.write(s + "\n") }

func (p *server) write(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.out, s)
}

// answer writes the result of a request.
func (p *server) answer(m message, body string) { p.line(result(m.ID, body)) }
