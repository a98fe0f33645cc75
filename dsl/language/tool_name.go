package language

import "strings"

// ToolEntries are what is before a __ in the name of a tool, or in a pattern:
// one of them is its server's entry, whose own name may have __ in it.
func ToolEntries(name string) (out []string) {
	for i := range name {
		if strings.HasPrefix(name[i:], "__") {
			out = append(out, name[:i])
		}
	}
	return out
}
