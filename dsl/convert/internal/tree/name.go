package tree

import (
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// maxName is the maximum length of a converted name: it is also a file name.
const maxName = 60

// notInName matches characters that names of a spec cannot contain.
var notInName = text.Regexp(`[^A-Za-z0-9_-]+`)

// Identifier converts a name to one that is valid in a spec. A name without a
// leading letter gets the prefix.
func Identifier(name, prefix string) string {
	id := notInName().ReplaceAllString(strings.TrimSpace(name), "-")
	for strings.Contains(id, "__") { // separates a server from its tool
		id = strings.ReplaceAll(id, "__", "_")
	}
	id = strings.Trim(id, "-_")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = strings.Trim(prefix+"-"+id, "-")
	}
	return strings.TrimRight(id[:min(len(id), maxName)], "-_")
}

// UniqueName returns the name, with a number appended if it is taken, and marks
// the result as taken. Names differ regardless of case.
func UniqueName(id string, taken map[string]bool) string {
	out := id
	for n := 2; taken[strings.ToLower(out)]; n++ {
		out = id + "-" + strconv.Itoa(n)
	}
	taken[strings.ToLower(out)] = true
	return out
}

// EscapeReferences escapes the dollar signs that would start a reference in a
// template.
func EscapeReferences(s string) string {
	return strings.NewReplacer("${", "$${", "$<", "$$<").Replace(s)
}

// notInVariable matches characters that names of environment variables cannot
// contain.
var notInVariable = text.Regexp(`[^A-Z0-9_]+`)

// Variable joins words to the name of an environment variable.
func Variable(words ...string) string {
	s := notInVariable().ReplaceAllString(strings.ToUpper(strings.Join(words, "_")), "_")
	for strings.Contains(s, "__") {
		s = strings.ReplaceAll(s, "__", "_")
	}
	if s = strings.Trim(s, "_"); s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "PEX_" + s
	}
	return s
}

// Sentence returns a text as a description: one line, trimmed.
func Sentence(s string) string { return strings.TrimSpace(OneLine(s)) }
