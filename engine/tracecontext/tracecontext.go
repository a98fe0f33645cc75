package tracecontext

import (
	"encoding/hex"
	"strings"
)

// Names under which a trace is passed on: in headers of HTTP and _meta of MCP, and in
// environments.
const (
	Header        = "traceparent"
	StateHeader   = "tracestate"
	Variable      = "TRACEPARENT"
	StateVariable = "TRACESTATE"
)

// Parent is the span of a caller.
type Parent struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool
}

// Parse parses a traceparent. ok is false if it is invalid, and the caller then has no trace:
// https://www.w3.org/TR/trace-context/#traceparent-header. Versions above 00 may have more
// fields.
func Parse(s string) (p Parent, ok bool) {
	const length = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-00")
	if len(s) < length || strings.ToLower(s) != s || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return Parent{}, false
	}
	var version, options [1]byte
	for _, field := range []struct {
		out []byte
		hex string
	}{{version[:], s[:2]}, {p.Trace[:], s[3:35]}, {p.Span[:], s[36:52]}, {options[:], s[53:55]}} {
		if _, err := hex.Decode(field.out, []byte(field.hex)); err != nil {
			return Parent{}, false
		}
	}
	rest := s[length:]
	if version[0] == 0xff || version[0] == 0 && rest != "" || rest != "" && rest[0] != '-' || p.Trace == [16]byte{} || p.Span == [8]byte{} {
		return Parent{}, false
	}
	p.Sampled = options[0]&1 != 0
	return p, true
}

// String formats a traceparent of version 00.
func (p Parent) String() string {
	options := "00"
	if p.Sampled {
		options = "01"
	}
	return "00-" + hex.EncodeToString(p.Trace[:]) + "-" + hex.EncodeToString(p.Span[:]) + "-" + options
}
