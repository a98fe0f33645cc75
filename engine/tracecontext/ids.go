package tracecontext

import (
	"crypto/sha256"
	"encoding/binary"
)

// RunKind is the kind of the span of a run, whose path is "" and whose number is 0.
const RunKind = "run"

// Kinds of the spans whose ids calls carry. Their paths are those of the effects, and their
// numbers are 0.
const (
	ModelKind      = "model"
	ToolKind       = "tool"
	MCPKind        = "mcp"        // the request of a tool call to an MCP server
	EmbeddingsKind = "embeddings" // what a tool call embeds
)

// TraceOf returns the trace of a run: that of its caller's traceparent, or the first 16 bytes
// of SHA-256("trace", run). Every session of a run, on every machine, computes the same.
func TraceOf(run, caller string) (id [16]byte) {
	if parent, ok := Parse(caller); ok {
		return parent.Trace
	}
	copy(id[:], digest("trace", run))
	return id
}

// SpanOf returns the id of a span of a run: the first 8 bytes of SHA-256("span", run, kind,
// path, n). n distinguishes what happens several times at one path, such as attempts.
func SpanOf(run, kind, path string, n int) (id [8]byte) {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(n)) //nolint:gosec // only a distinct value matters
	copy(id[:], digest("span", run, kind, path, string(number[:])))
	return id
}

// digest returns the SHA-256 of texts, each after its length, so that no two lists are
// equal by accident.
func digest(texts ...string) []byte {
	h := sha256.New()
	var length [8]byte
	for _, s := range texts {
		binary.BigEndian.PutUint64(length[:], uint64(len(s)))
		h.Write(length[:])
		h.Write([]byte(s))
	}
	return h.Sum(nil)
}
