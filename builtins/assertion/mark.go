package assertion

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/eval/trial"
)

// The bounds of what a mark shows.
const (
	maxShown    = 2000     // bytes of one text
	maxCompared = 64 << 10 // bytes of a text in a diff
)

// says is a mark that is yes or no. The message is a fact that holds either way,
// so that it explains a negated check too.
func says(pass bool, expected, actual, message string) trial.Mark {
	m := trial.Mark{Pass: pass, Expected: short(expected), Actual: short(actual), Message: short(message)}
	if pass {
		m.Score = 1
	}
	return m
}

// scored is a mark with a score of its own.
func scored(pass bool, score float64, expected, actual, message string) trial.Mark {
	m := says(pass, expected, actual, message)
	m.Score = min(max(score, 0), 1)
	if math.IsNaN(score) {
		m.Score = 0
	}
	return m
}

// short is a text that fits a report: its begin and its end.
func short(s string) string {
	if len(s) <= maxShown {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	const tail = maxShown / 4
	return leftOut(s, maxShown-tail, tail)
}

// brief is a text within a sentence, quoted.
func brief(s string) string {
	const most = 200
	return strconv.Quote(text.Clip(s, most))
}

// diff shows how texts of several lines differ; "" where neither has several.
func diff(expected, actual string) string {
	if !strings.Contains(expected+actual, "\n") || len(expected) > maxCompared || len(actual) > maxCompared {
		return ""
	}
	return short(textdiff.Compare(expected+"\n", actual+"\n").Unified(0))
}

// figure is a number for people: few digits, no exponent where one can do without.
func figure(x float64) string {
	s := strconv.FormatFloat(x, 'f', 4, 64)
	if x != 0 && math.Abs(x) < 0.001 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// leftOut is the beginning and the end of a text, and how much is not shown.
func leftOut(s string, head, tail int) string {
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", text.Head(s, head), len(s)-head-tail, text.Tail(s, tail))
}
