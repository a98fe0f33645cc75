package call

import (
	"strings"

	"github.com/pexctl/pex/engine/text"
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
	return text.Head(s, maxHead) + " … " + text.Tail(s, maxTail)
}
