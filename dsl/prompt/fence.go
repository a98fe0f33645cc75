package prompt

import "strings"

// Fence returns a delimiter line that cannot occur in text: at least three
// backticks, and more than the longest run in it. The same text always has the
// same fence, so prompts render deterministically, and the output of a tool
// cannot close its own fence.
func Fence(text string) string {
	longest := 2
	for i := 0; i < len(text); i++ {
		n := 0
		for i < len(text) && text[i] == '`' {
			n, i = n+1, i+1
		}
		longest = max(longest, n)
	}
	return strings.Repeat("`", longest+1)
}
