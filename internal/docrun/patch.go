package docrun

import (
	"fmt"
	"strings"
)

// Patch changes a text by what a block of diff says: lines that begin with a
// space or - are looked for, wherever they are, and must stand there once; those
// with a space or + come in their place. @@ begins the next place.
func Patch(text, diff string) (string, error) {
	var before, after []string
	flush := func() error {
		old := strings.Join(before, "")
		if len(before)+len(after) == 0 {
			return nil
		}
		switch n := places(text, old); {
		case len(before) == 0:
			return fmt.Errorf("the diff adds lines, and does not say where: %s", strings.Join(after, ""))
		case n != 1:
			return fmt.Errorf("stands there %d times, and is to once:\n%s", n, old)
		}
		text = strings.Replace("\n"+text, "\n"+old, "\n"+strings.Join(after, ""), 1)[1:]
		before, after = nil, nil
		return nil
	}
	for i, line := range strings.SplitAfter(diff, "\n") {
		switch {
		case line == "" || i == 0 && strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "@@"):
			if err := flush(); err != nil {
				return "", err
			}
		case line[0] == '-':
			before = append(before, line[1:])
		case line[0] == '+':
			after = append(after, line[1:])
		case line[0] == ' ' || line == "\n":
			same := strings.TrimPrefix(line, " ")
			before, after = append(before, same), append(after, same)
		default:
			return "", fmt.Errorf("a line of a diff begins with -, +, a space or @@: %s", line)
		}
	}
	if err := flush(); err != nil {
		return "", err
	}
	return text, nil
}

// places is how often lines stand in a text.
func places(text, lines string) int {
	n := 0
	for at := range text {
		if (at == 0 || text[at-1] == '\n') && strings.HasPrefix(text[at:], lines) {
			n++
		}
	}
	return n
}
