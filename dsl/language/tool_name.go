package language

import "strings"

// ToolEntries returns the possible server entries of a tool name or pattern: the
// prefixes before each __, because a server's own name may contain __.
func ToolEntries(name string) (out []string) {
	for i := range name {
		if strings.HasPrefix(name[i:], "__") {
			out = append(out, name[:i])
		}
	}
	return out
}
