//go:build unix

package mcptest

import (
	"encoding/json"
	"strings"
)

// lies are servers whose messages are wrong.
func lies() map[string]Mode {
	instead := func(doc string, lines ...string) Mode {
		return call(doc, func(p *peer, _ message) {
			for _, l := range lines {
				p.line(l)
			}
		})
	}
	before := func(doc string, lines ...string) Mode {
		return call(doc, func(p *peer, m message) {
			for _, l := range lines {
				p.line(l)
			}
			p.answer(m, text("true"))
		})
	}
	r := func(id, body string) string { return result(json.RawMessage(id), body) }
	return map[string]Mode{
		"wrong_id":    instead("answers another request", r("4711", text("false"))),
		"string_id":   call("answers with its request's id as a string", func(p *peer, m message) { p.line(r(`"`+string(m.ID)+`"`, text("false"))) }),
		"null_id":     instead("answers with a null id", r("null", text("false"))),
		"unknown_id":  before("answers what was not asked, then what was", r("4711", text("false")), r("-1", text("false"))),
		"negative_id": before("answers a request of a negative number first", r("-7", text("false"))),
		"twice": call("answers twice", func(p *peer, m message) {
			p.answer(m, text("first"))
			p.answer(m, text("second"))
		}),
		"duplicate_id": call("answers with two ids", func(p *peer, m message) {
			p.line(`{"jsonrpc":"2.0","id":4711,"id":` + string(m.ID) + `,"result":` + text("two ids") + `}`)
		}),
		"invalid_json": instead("answers what is no JSON", `{"jsonrpc":"2.0","id":`),
		"invalid_utf8": call("answers bytes that are no text", func(p *peer, m message) {
			p.line(r(string(m.ID), text("bad ")[:len(text("bad "))-4]+"\xff\xfe"+`"}]}`))
		}),
		"batch":       call("answers in a batch", func(p *peer, m message) { p.line("[" + r(string(m.ID), text("batched")) + "]") }),
		"empty_batch": before("sends an empty batch first", "[]"),
		"deep":        call("answers nested 10,000 deep", func(p *peer, m message) { p.answer(m, deep()) }),
		"result_and_error": call("answers with a result and an error", func(p *peer, m message) {
			p.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + text("both") + `,"error":{"code":1,"message":"both"}}`)
		}),
		"no_result": call("answers with neither result nor error", func(p *peer, m message) { p.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `}`) }),
		"crlf":      call("ends its lines as on Windows", func(p *peer, m message) { p.raw(result(m.ID, text("crlf")) + "\r\n") }),
		"pretty":    call("answers over many lines", func(p *peer, m message) { p.line(strings.ReplaceAll(result(m.ID, text("pretty")), ",", ",\n")) }),
		"capital_letters": call("answers in other letters' case", func(p *peer, m message) {
			p.line(`{"JSONRPC":"2.0","ID":` + string(m.ID) + `,"RESULT":` + text("case") + `}`)
		}),
	}
}

// contents are servers whose results are invalid or unusual.
func contents() map[string]Mode {
	return map[string]Mode{
		"result_no_object": call("returns a result that is not an object", func(p *peer, m message) { p.answer(m, `"a text"`) }),
		"content_no_list":  call("returns content that is not a list", func(p *peer, m message) { p.answer(m, `{"content":"a text"}`) }),
		"content_unknown":  call("returns content of an unknown type", func(p *peer, m message) { p.answer(m, `{"content":[{"type":"smell","smell":"roses"}]}`) }),
		"no_content":       call("gives no content", func(p *peer, m message) { p.answer(m, `{}`) }),
		"bad_base64": call("gives an image that is no base64", func(p *peer, m message) {
			p.answer(m, `{"content":[{"type":"image","mimeType":"image/png","data":"%%%"}]}`)
		}),
		"structured_string": call("gives structured content that is no object", func(p *peer, m message) { p.answer(m, `{"content":[],"structuredContent":"a text"}`) }),
		"structured_lie": {Doc: "gives structured content that its own schema forbids", on: map[string]func(*peer, message){
			"tools/list": func(p *peer, m message) {
				p.answer(m, `{"tools":[`+strings.TrimSuffix(echo, "}")+`,"outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}]}`)
			},
			"tools/call": func(p *peer, m message) { p.answer(m, `{"content":[],"structuredContent":{"n":"seven"}}`) },
		}},
		"escapes":      call("gives terminal escapes", func(p *peer, m message) { p.answer(m, text("\x1b]0;owned\x07\x1b[2Jcleared\x00")) }),
		"error_answer": call("fails by the protocol", func(p *peer, m message) { p.line(failure(m.ID, -32602, "text must not be empty")) }),
		"error_result": call("fails as a tool does", func(p *peer, m message) {
			p.answer(m, `{"isError":true,"content":[{"type":"text","text":"the disk is full"}]}`)
		}),
	}
}

// versions are servers that speak another version of the protocol.
func versions() map[string]Mode {
	return map[string]Mode{
		"old_version":   version("answers with an unknown protocol version", "1999-01-01"),
		"no_version":    version("answers no version of the protocol", ""),
		"first_version": version("speaks the protocol's first version", "2024-11-05"),
	}
}

// deep is a result that is nested deep enough to break a careless reader.
func deep() string {
	const depth = 10_000
	return `{"content":[{"type":"text","text":"deep"}],"structuredContent":` +
		strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) + "}"
}

// version is a mode that differs in its answer to initialize.
func version(doc, v string) Mode {
	return Mode{Doc: doc, on: map[string]func(*peer, message){"initialize": func(p *peer, m message) {
		p.answer(m, `{"protocolVersion":"`+v+`","capabilities":{"tools":{}},"serverInfo":{"name":"mcptest","version":"1"}}`)
	}}}
}
