package report

import (
	"fmt"
	"strconv"
)

// maxListed is the maximum number of names in a sentence.
const maxListed = 5

// plural returns a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func were(n int, noun string) string { return plural(n, noun+" was", noun+"s were") }

func have(n int, noun string) string { return plural(n, noun+" has", noun+"s have") }

// Percent formats a rate. It never rounds to 100% or 0% a rate that is not exactly that.
func Percent(rate float64) string {
	const step = 0.001
	switch {
	case rate < 1 && rate > 1-step/2:
		rate = 1 - step
	case rate > 0 && rate < step/2:
		rate = step
	}
	return fmt.Sprintf("%.1f%%", 100*rate)
}

// points formats a difference of rates in percentage points.
func points(x float64) string {
	s := strconv.FormatFloat(100*x, 'f', 1, 64)
	if s == "-0.0" {
		return "0.0"
	}
	return s
}
