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

// Limits of the texts in a mark.
const (
	maxShown    = 2000     // bytes of one text
	maxCompared = 64 << 10 // bytes of a text in a diff
)

// boolean returns a mark without a score. The message must be true for the negated check,
// too.
func boolean(pass bool, expected, actual, message string) trial.Mark {
	m := trial.Mark{Pass: pass, Expected: short(expected), Actual: short(actual), Message: short(message)}
	if pass {
		m.Score = 1
	}
	return m
}

// scored returns a mark with a score.
func scored(pass bool, score float64, expected, actual, message string) trial.Mark {
	m := boolean(pass, expected, actual, message)
	m.Score = min(max(score, 0), 1)
	if math.IsNaN(score) {
		m.Score = 0
	}
	return m
}

// short returns the start and the end of a text that is too long for a report.
func short(s string) string {
	if len(s) <= maxShown {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	const tail = maxShown / 4
	return shortened(s, maxShown-tail, tail)
}

// brief returns the quoted start of a text, for use in a sentence.
func brief(s string) string {
	const most = 200
	return strconv.Quote(text.Clip(s, most))
}

// diff returns the difference of multi-line texts, "" if both have one line.
func diff(expected, actual string) string {
	if !strings.Contains(expected+actual, "\n") || len(expected) > maxCompared || len(actual) > maxCompared {
		return ""
	}
	return short(textdiff.Compare(expected+"\n", actual+"\n").Unified(0))
}

// formatNumber formats a number with few digits and, if possible, without an exponent.
func formatNumber(x float64) string {
	s := strconv.FormatFloat(x, 'f', 4, 64)
	if x != 0 && math.Abs(x) < 0.001 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// shortened returns the start and the end of a text and the size of the omitted part.
func shortened(s string, head, tail int) string {
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", text.Head(s, head), len(s)-head-tail, text.Tail(s, tail))
}
