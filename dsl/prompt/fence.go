package prompt

import "strings"

// Fence gives a delimiter line that cannot occur in text: backticks, at least
// three, and more than the longest run of them in it. The same text always gets
// the same fence, so a prompt that shows a result renders alike every time, and
// what a tool wrote cannot close its own fence.
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
