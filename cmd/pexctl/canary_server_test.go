//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// parrot is a model server for every protocol that repeats the secrets of its
// clients in all forms: in replies, refusals, headers and addresses.
type parrot struct {
	*httptest.Server
	says string // in every text of it
	key  string // for places with room for one word only

	mu   sync.Mutex
	how  string   // the kind of reply; "" for a plan, a tool call, and answers
	nth  int      // number of requests since how was set
	seen []string // all requests
}

func newParrot(t *testing.T, says, key string) *parrot {
	p := &parrot{says: says, key: key}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// answers sets the kind of the next replies.
func (p *parrot) answers(how string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.how, p.nth = how, 0
}

// received reports whether a text occurred in any request.
func (p *parrot) received(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.seen, func(s string) bool { return strings.Contains(s, text) })
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	user, password, _ := r.BasicAuth()
	p.mu.Lock()
	p.seen = append(p.seen, fmt.Sprint(r.URL, r.Header, user, " ", password, string(body)))
	how, nth := p.how, p.nth
	p.nth++
	p.mu.Unlock()
	w.Header().Set("X-Request-Id", "req-"+p.key)
	w.Header().Set("X-Amzn-Errortype", p.key)
	switch how {
	case "400", "401", "404", "429", "500", "529":
		p.refuse(w, how)
	case "text":
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprintf(w, "<html>no way from %s\n%s</html>", p.key, p.says)
	case "redirect":
		http.Redirect(w, r, "http://"+r.Host+"0/"+p.key+"?key="+p.key, http.StatusTemporaryRedirect)
	case "type":
		w.Header().Set("Content-Type", "text/"+p.key)
		fmt.Fprint(w, p.says)
	case "garbage":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{"+p.says)
	case "broken stream":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", p.inJSON(map[string]any{"type": "error", "error": map[string]any{"code": 500, "type": p.key, "message": p.says}}))
	default:
		p.reply(w, r.URL.Path, strings.Contains(string(body), `"stream":true`) || strings.Contains(r.URL.Path, "stream"), nth)
	}
}

func (p *parrot) refuse(w http.ResponseWriter, status string) {
	var code int
	_, _ = fmt.Sscan(status, &code)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprint(w, p.inJSON(map[string]any{
		"type": "error", "message": p.says, "__type": p.key,
		"error": map[string]any{"message": "wrong key " + p.key + ": " + p.says, "type": p.key, "code": p.key, "status": p.key},
	}))
}

// reply writes a plan, then a tool call, then the step's answer, then the run's.
func (p *parrot) reply(w http.ResponseWriter, path string, stream bool, nth int) {
	text, args := "", ""
	switch nth % 4 {
	case 0:
		text = p.inJSON(map[string]any{"steps": []string{"tell " + p.says}, "result": ""})
	case 1:
		args = p.inJSON(map[string]any{"said": p.says})
	case 2:
		text = "It is " + p.says
	case 3:
		text = p.inJSON(map[string]any{"steps": []string{}, "result": "The answer is " + p.says})
	}
	write := p.chat
	switch {
	case strings.HasSuffix(path, "/v1/messages"):
		write = p.claude
	case strings.Contains(path, "enerateContent"):
		write = p.gemini
	case strings.HasSuffix(path, "/converse"):
		write = p.converse
	}
	write(w, stream, text, args)
}

// events writes a stream in pieces with arbitrary boundaries.
func events(w http.ResponseWriter, all ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range all {
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
}

func pieces(text string) (out []string) {
	for len(text) > 7 {
		out, text = append(out, text[:7]), text[7:]
	}
	return append(out, text)
}

func (p *parrot) chat(w http.ResponseWriter, stream bool, text, args string) {
	message, finish := map[string]any{"role": "assistant", "content": text}, "stop"
	if args != "" {
		finish = "tool_calls"
		message = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": "call-" + p.key, "type": "function", "function": map[string]any{"name": "tell", "arguments": args},
		}}}
	}
	chunk := func(kind string, message any, finish any) string {
		return p.inJSON(map[string]any{"id": "chat-" + p.key, "model": p.key, "choices": []any{map[string]any{"index": 0, kind: message, "finish_reason": finish}}})
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, chunk("message", message, finish))
		return
	}
	var all []string
	if args != "" {
		all = append(all, chunk("delta", message, nil))
	} else {
		for _, piece := range pieces(text) {
			all = append(all, chunk("delta", map[string]any{"role": "assistant", "content": piece}, nil))
		}
	}
	events(w, append(all, chunk("delta", map[string]any{}, finish), "[DONE]")...)
}

func (p *parrot) claude(w http.ResponseWriter, stream bool, text, args string) {
	block, delta, stop := map[string]any{"type": "text", "text": ""}, func(s string) map[string]any { return map[string]any{"type": "text_delta", "text": s} }, "end_turn"
	said := text
	if args != "" {
		block, stop, said = map[string]any{"type": "tool_use", "id": "toolu", "name": "tell", "input": map[string]any{}}, "tool_use", args
		delta = func(s string) map[string]any { return map[string]any{"type": "input_json_delta", "partial_json": s} }
	}
	message := map[string]any{
		"id": "msg-" + p.key, "type": "message", "role": "assistant", "model": p.key, "content": []any{}, "stop_reason": nil,
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}
	if !stream {
		if block["text"] = text; args != "" {
			delete(block, "text")
			block["input"] = json.RawMessage(args)
		}
		message["content"], message["stop_reason"] = []any{block}, stop
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, p.inJSON(message))
		return
	}
	all := []map[string]any{{"type": "message_start", "message": message}, {"type": "content_block_start", "index": 0, "content_block": block}}
	for _, piece := range pieces(said) {
		all = append(all, map[string]any{"type": "content_block_delta", "index": 0, "delta": delta(piece)})
	}
	all = append(all, map[string]any{"type": "content_block_stop", "index": 0},
		map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop}, "usage": map[string]any{"output_tokens": 1}},
		map[string]any{"type": "message_stop"})
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range all {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], p.inJSON(e))
	}
}

func (p *parrot) gemini(w http.ResponseWriter, stream bool, text, args string) {
	answer := func(part map[string]any, finish string) string {
		return p.inJSON(map[string]any{"responseId": "r-" + p.key, "modelVersion": p.key, "candidates": []any{map[string]any{
			"content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": finish,
		}}})
	}
	part := map[string]any{"text": text}
	if args != "" {
		part = map[string]any{"functionCall": map[string]any{"name": "tell", "args": json.RawMessage(args)}, "thoughtSignature": "c2lnbmVk"}
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer(part, "STOP"))
		return
	}
	if args != "" {
		events(w, answer(part, "STOP"))
		return
	}
	var all []string
	for _, piece := range pieces(text) {
		all = append(all, answer(map[string]any{"text": piece}, ""))
	}
	events(w, append(all, answer(map[string]any{"text": ""}, "STOP"))...)
}

func (p *parrot) converse(w http.ResponseWriter, _ bool, text, args string) {
	block, stop := map[string]any{"text": text}, "end_turn"
	if args != "" {
		block, stop = map[string]any{"toolUse": map[string]any{"toolUseId": "t1", "name": "tell", "input": json.RawMessage(args)}}, "tool_use"
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, p.inJSON(map[string]any{
		"output":     map[string]any{"message": map[string]any{"role": "assistant", "content": []any{block}}},
		"stopReason": stop, "usage": map[string]any{"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
	}))
}

func (p *parrot) inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
