package call

import (
	"strings"
	"unicode/utf8"
)

// What is kept of a server's message: its beginning, and its end, where what
// helps to mend the failure stands.
const (
	maxHead = 1536
	maxTail = 512
)

// shortened is a message that people can read, in valid UTF-8: servers echo
// requests, or send pages.
func shortened(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxHead+maxTail {
		return s
	}
	head, tail := maxHead, len(s)-maxTail
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + " … " + s[tail:]
}
