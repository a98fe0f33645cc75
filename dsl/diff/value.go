package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/text"
)

// alike says that two values mean the same: written otherwise, or one of them
// is not written and the other is what holds then.
func (c *comparison) alike(path string, a, b dsl.Value) bool {
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

// byDefault says that a value is what the other side has without writing it.
func (c *comparison) byDefault(path string, v dsl.Value, other *side) bool {
	if known, ok := other.byDefault(path); ok {
		return scalar(v) && sameText(v.Text(), known)
	}
	return empty(v) || scalar(v) && !v.IsText() && v.Text() == "false"
}

// empty says that a value is as good as none.
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

// sameText says that two scalars are the same text, number or duration.
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

// canonical is a value as JSON whose keys are sorted.
func canonical(v dsl.Value) []byte {
	d := json.NewDecoder(bytes.NewReader(v.JSON()))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return v.JSON()
	}
	b, _ := json.Marshal(x) // it was JSON
	return b
}

// shown is a value as people read it: a text as it is, short lists on one line,
// other things as indented JSON.
func shown(v dsl.Value) string {
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

// wide is how many characters of JSON are on a line, and widest how many of any
// value; what is longer gets a diff.
const (
	wide   = 80
	widest = 120
)

func long(text string) bool { return len(text) > widest || strings.Contains(text, "\n") }

// size is a long value in short.
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

// brief is a text on one line, cut as config.Origin cuts values.
func brief(s string) string {
	return text.ClipRunes(text.OneLine(s), wide)
}

// ended is a text with a line end, so that a diff does not report a missing one.
func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// sentences is a text whose long lines are broken behind each sentence: of a
// paragraph on one line a diff then shows the sentence that changed.
func sentences(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > widest {
			line = sentenceEnd.ReplaceAllString(line, "$1\n")
		}
		b.WriteString(line)
	}
	return b.String()
}

var sentenceEnd = regexp.MustCompile(`([.;:?!])[ \t]+`)

// plainList says that a value is a list of scalars, or nothing.
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

// without is what one list has and the other lacks.
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

// joined is notes one after another, without the empty ones.
func joined(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
}

func number(n int) string { return strconv.Itoa(n) }

// placeOf is a place as people read it; "" = nowhere.
func placeOf(p dsl.Place) string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}
