package tty

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/text"
)

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

// Span formats a duration: 12ms, 3.4s, 2m5s.
func Span(d time.Duration) string { return text.Duration(d) }

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
