package text

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Count returns a number with its noun: "1 step", "2 steps".
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + Plural(n, noun) }

// Plural returns the noun for a number of things: "step" for 1, else "steps".
func Plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// List joins words as a sentence does: "a", "a and b", "a, b and c".
func List(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Some joins the first words of a list and counts the others: "a, b and 3 more".
func Some(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// OneLine returns s with each run of white space replaced by one space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Head returns at most the first most bytes of s, without splitting a character, as valid
// UTF-8.
func Head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:max(most, 0)], "")
}

// Tail returns at most the last most bytes of s, like Head.
func Tail(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-max(most, 0):], "")
}

// Clip returns at most most bytes of s, followed by an ellipsis if s is longer.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return Head(s, most) + "…"
}

// ClipRunes returns at most most characters of s, of which the last is an ellipsis if s
// is longer.
func ClipRunes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Match reports whether a glob of package path matches a name. A malformed glob matches
// nothing.
func Match(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// MatchAny reports whether one of several globs matches a name.
func MatchAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return Match(g, name) })
}

// Regexp returns a function that compiles a pattern on first use, to keep the start of
// the program fast.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// Duration formats a duration: 12ms, 3.4s, 2m5s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", max(d, 0).Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Ago formats a time in the past in its largest unit: now, 3m ago, 2d ago.
func Ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	}
	return fmt.Sprintf("%dd ago", d/day)
}

// Amount formats a large count: 950, 1.2k, 3.4M.
func Amount(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// ShellWord returns a text as one word of a shell command, quoted if necessary.
func ShellWord(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n'\"$&|;<>()*?[]{}!#~`\\") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
