package tool

import (
	"fmt"
	"strings"
)

// Excerpt shortens a text longer than max bytes to its head and tail.
func Excerpt(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= max {
		return s
	}
	head := strings.ToValidUTF8(s[:max*2/3], "")
	tail := strings.ToValidUTF8(s[len(s)-max/3:], "")
	return fmt.Sprintf("%s\n[... %d of %d bytes omitted ...]\n%s", head, len(s)-len(head)-len(tail), len(s), tail)
}
