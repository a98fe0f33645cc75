//go:build unix

package mcptest

import (
	"encoding/json"
	"strings"
)

// protocolErrors returns servers that send invalid messages.
func protocolErrors() map[string]Mode {
	instead := func(doc string, lines ...string) Mode {
		return call(doc, func(p *server, _ message) {
			for _, l := range lines {
				p.line(l)
			}
		})
	}
	before := func(doc string, lines ...string) Mode {
		return call(doc, func(p *server, m message) {
			for _, l := range lines {
				p.line(l)
			}
			p.answer(m, text("true"))
		})
	}
	r := func(id, body string) string { return result(json.RawMessage(id), body) }
	return map[string]Mode{
		"wrong_id":    instead("answers another request", r("4711", text("false"))),
		"string_id":   call("answers with its request's id as a string", func(p *server, m message) { p.line(r(`"`+string(m.ID)+`"`, text("false"))) }),
		"null_id":     instead("answers with a null id", r("null", text("false"))),
		"unknown_id":  before("answers unknown requests before the real one", r("4711", text("false")), r("-1", text("false"))),
		"negative_id": before("answers a request with a negative id first", r("-7", text("false"))),
		"twice": call("answers twice", func(p *server, m message) {
			p.answer(m, text("first"))
			p.answer(m, text("second"))
		}),
		"duplicate_id": call("answers with two ids", func(p *server, m message) {
			p.line(`{"jsonrpc":"2.0","id":4711,"id":` + string(m.ID) + `,"result":` + text("two ids") + `}`)
		}),
		"invalid_json": instead("answers with invalid JSON", `{"jsonrpc":"2.0","id":`),
		"invalid_utf8": call("answers with invalid UTF-8", func(p *server, m message) {
			p.line(r(string(m.ID), text("bad ")[:len(text("bad "))-4]+"\xff\xfe"+`"}]}`))
		}),
		"batch":       call("answers in a batch", func(p *server, m message) { p.line("[" + r(string(m.ID), text("batched")) + "]") }),
		"empty_batch": before("sends an empty batch first", "[]"),
		"deep":        call("answers with 10,000 nested objects", func(p *server, m message) { p.answer(m, deep()) }),
		"result_and_error": call("answers with a result and an error", func(p *server, m message) {
			p.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + text("both") + `,"error":{"code":1,"message":"both"}}`)
		}),
		"no_result": call("answers with neither result nor error", func(p *server, m message) { p.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `}`) }),
		"crlf":      call("ends its lines with CRLF", func(p *server, m message) { p.write(result(m.ID, text("crlf")) + "\r\n") }),
		"pretty":    call("answers with indented JSON over several lines", func(p *server, m message) { p.line(strings.ReplaceAll(result(m.ID, text("pretty")), ",", ",\n")) }),
		"capital_letters": call("answers with upper-case keys", func(p *server, m message) {
			p.line(`{"JSONRPC":"2.0","ID":` + string(m.ID) + `,"RESULT":` + text("case") + `}`)
		}),
	}
}

// toolResults returns servers whose results are invalid or unusual.
func toolResults() map[string]Mode {
	return map[string]Mode{
		"result_no_object": call("returns a result that is not an object", func(p *server, m message) { p.answer(m, `"a text"`) }),
		"content_no_list":  call("returns content that is not a list", func(p *server, m message) { p.answer(m, `{"content":"a text"}`) }),
		"content_unknown":  call("returns content of an unknown type", func(p *server, m message) { p.answer(m, `{"content":[{"type":"smell","smell":"roses"}]}`) }),
		"no_content":       call("returns no content", func(p *server, m message) { p.answer(m, `{}`) }),
		"bad_base64": call("returns an image that is not base64", func(p *server, m message) {
			p.answer(m, `{"content":[{"type":"image","mimeType":"image/png","data":"%%%"}]}`)
		}),
		"structured_string": call("returns structured content that is not an object", func(p *server, m message) { p.answer(m, `{"content":[],"structuredContent":"a text"}`) }),
		"structured_lie": {Doc: "returns structured content that violates its own schema", on: map[string]func(*server, message){
			"tools/list": func(p *server, m message) {
				p.answer(m, `{"tools":[`+strings.TrimSuffix(echo, "}")+`,"outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}]}`)
			},
			"tools/call": func(p *server, m message) { p.answer(m, `{"content":[],"structuredContent":{"n":"seven"}}`) },
		}},
		"escapes":      call("returns terminal escapes", func(p *server, m message) { p.answer(m, text("\x1b]0;owned\x07\x1b[2Jcleared\x00")) }),
		"error_answer": call("fails with a protocol error", func(p *server, m message) { p.line(failure(m.ID, -32602, "text must not be empty")) }),
		"error_result": call("fails with a tool error", func(p *server, m message) {
			p.answer(m, `{"isError":true,"content":[{"type":"text","text":"the disk is full"}]}`)
		}),
	}
}

// versions returns servers with other protocol versions.
func versions() map[string]Mode {
	return map[string]Mode{
		"old_version":   version("answers with an unknown protocol version", "1999-01-01"),
		"no_version":    version("answers without a protocol version", ""),
		"first_version": version("uses the first protocol version", "2024-11-05"),
	}
}

// deep returns a result nested deeply enough to overflow a recursive decoder.
func deep() string {
	const depth = 10_000
	return `{"content":[{"type":"text","text":"deep"}],"structuredContent":` +
		strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) + "}"
}

// version returns a mode with another answer to initialize.
func version(doc, v string) Mode {
	return Mode{Doc: doc, on: map[string]func(*server, message){"initialize": func(p *server, m message) {
		p.answer(m, `{"protocolVersion":"`+v+`","capabilities":{"tools":{}},"serverInfo":{"name":"mcptest","version":"1"}}`)
	}}}
}
