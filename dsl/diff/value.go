package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/text"
)

// equivalent reports whether two values have the same meaning: in another notation, or
// because a missing value has the other one as its default.
func (c *comparison) equivalent(path string, a, b dsl.Value) bool {
	switch {
	case !a.Exists():
		return c.byDefault(path, b, c.old)
	case !b.Exists():
		return c.byDefault(path, a, c.now)
	case scalar(a) && scalar(b):
		return a.IsText() == b.IsText() && sameText(a.Text(), b.Text())
	}
	return bytes.Equal(canonical(a), canonical(b))
}

// byDefault reports whether a value is the default on the other side.
func (c *comparison) byDefault(path string, v dsl.Value, other *side) bool {
	if known, ok := other.byDefault(path); ok {
		return scalar(v) && sameText(v.Text(), known)
	}
	return empty(v) || scalar(v) && !v.IsText() && v.Text() == "false"
}

// empty reports whether a value is missing, null or empty.
func empty(v dsl.Value) bool {
	switch {
	case !v.Exists() || v.IsNull():
		return true
	case v.IsMapping():
		return len(v.Entries()) == 0
	case v.IsList():
		return len(v.Items()) == 0
	}
	return v.IsText() && v.Text() == ""
}

func scalar(v dsl.Value) bool { return v.Exists() && !v.IsMapping() && !v.IsList() }

// sameText reports whether two scalars are the same text, number or duration.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err == nil && err2 == nil {
		return x == y
	}
	p, err := time.ParseDuration(a)
	q, err2 := time.ParseDuration(b)
	return err == nil && err2 == nil && p == q
}

// canonical returns a value as JSON with sorted keys.
func canonical(v dsl.Value) []byte {
	d := json.NewDecoder(bytes.NewReader(v.JSON()))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return v.JSON()
	}
	b, _ := json.Marshal(x) // decoded from JSON, so encoding cannot fail
	return b
}

// displayValue returns a value for humans: a text as is, short lists on one line, other
// values as indented JSON.
func displayValue(v dsl.Value) string {
	switch {
	case !v.Exists() || v.IsNull():
		return ""
	case scalar(v):
		return v.Text()
	}
	var b bytes.Buffer
	if raw := v.JSON(); len(raw) <= wide || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// wide is the maximum length in characters of JSON on one line, widest that of
// any value. Longer values get a diff.
const (
	wide   = 80
	widest = 120
)

func long(text string) bool { return len(text) > widest || strings.Contains(text, "\n") }

// size describes a long value by its size.
func size(s string, v dsl.Value) string {
	switch {
	case s == "" || !long(s):
		return s
	case !strings.Contains(strings.TrimRight(s, "\n"), "\n"):
		return text.Count(len([]rune(s)), "character")
	case v.IsList():
		return text.Count(len(v.Items()), "item")
	}
	return text.Count(1+strings.Count(strings.TrimRight(s, "\n"), "\n"), "line")
}

// brief returns a text on one line, shortened like the values of config.Origin.
func brief(s string) string {
	return text.ClipRunes(text.OneLine(s), wide)
}

// withLineEnd returns a text with a final line break, so that a diff does not report a
// missing one.
func withLineEnd(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// sentences breaks long lines after each sentence, so that a diff of a paragraph
// shows the changed sentence.
func sentences(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > widest {
			line = sentenceEnd().ReplaceAllString(line, "$1\n")
		}
		b.WriteString(line)
	}
	return b.String()
}

var sentenceEnd = text.Regexp(`([.;:?!])[ \t]+`)

// plainList reports whether a value is missing or a list of scalars.
func plainList(v dsl.Value) bool {
	return !v.Exists() || v.IsList() && !slices.ContainsFunc(v.Items(), func(it dsl.Value) bool { return !scalar(it) })
}

func texts(v dsl.Value) []string {
	var out []string
	for _, it := range v.Items() {
		out = append(out, it.Text())
	}
	return out
}

func list(texts []string) string { return "[" + strings.Join(texts, ", ") + "]" }

// without returns the entries of some that are not in others.
func without(some, others []string) []string {
	var out []string
	for _, s := range some {
		if !slices.Contains(others, s) {
			out = append(out, s)
		}
	}
	return out
}

func repeats(texts []string) bool {
	sorted := slices.Sorted(slices.Values(texts))
	return len(slices.Compact(sorted)) < len(texts)
}

// joinNotes joins notes and skips empty ones.
func joinNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
}

func number(n int) string { return strconv.Itoa(n) }

// placeOf returns a place for humans, or "" if there is none.
func placeOf(p dsl.Place) string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}
