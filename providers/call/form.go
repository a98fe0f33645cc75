package call

import (
	"regexp"
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// SchemaName makes of a schema's name one that protocols allow: 64 letters,
// digits, _ and - at most.
func SchemaName(s string) string {
	s = notInNames.ReplaceAllString(s, "_")
	if s == "" {
		return "reply"
	}
	return s[:min(len(s), 64)]
}
