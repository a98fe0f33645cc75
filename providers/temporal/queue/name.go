package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Queues that exist once.
const (
	Workflow = "pex"
	Tool     = "pex.tool"
	Memory   = "pex.memory"
)

const (
	llmPrefix  = "pex.llm."
	toolPrefix = Tool + "."
)

// LLM returns the queue of the calls of an llm. Different names have different queues.
func LLM(name string) string { return llmPrefix + escape(name) }

// ToolOn returns the queue of the calls of tools on hosts with a label; "" is any host. Different
// labels have different queues.
func ToolOn(label string) string {
	if label == "" {
		return Tool
	}
	return toolPrefix + escape(label)
}

// maxName is the length from which a name is cut: queues appear in commands and pages, and a server
// has a limit of its own.
const maxName = 100

// escape returns a name in the characters of queue names: letters, digits, - and _ as they are, and
// other bytes as %XX. A long name ends with its hash, behind a character that no other name has.
func escape(name string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	if b.Len() <= maxName {
		return b.String()
	}
	return b.String()[:maxName/2] + "~" + hash(name)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}
