package strftime_test

import (
	"testing"
	"time"

	"github.com/pexctl/pex/dsl/strftime"
)

func TestFormatWritesEachDirective(t *testing.T) {
	at := time.Date(2026, 1, 2, 15, 4, 5, 123456000, time.UTC)
	for format, want := range map[string]string{
		"%Y-%m-%dT%H:%M:%SZ":  "2026-01-02T15:04:05Z",
		"%F %T":               "2026-01-02 15:04:05",
		"%A, %d %B %Y":        "Friday, 02 January 2026",
		"%I:%M %p":            "03:04 PM",
		"%j|%u|%w|%V|%G":      "002|5|5|01|2026",
		"%s.%f":               "1767366245.123456",
		"100 %%":              "100 %",
		"plain 2006":          "plain 2006",
		"%Q stays, so does %": "%Q stays, so does %",
	} {
		if got := strftime.Format(at, format); got != want {
			t.Errorf("%q: got %q, want %q", format, got, want)
		}
	}
}

func TestCheckReportsUnknownDirectives(t *testing.T) {
	for format, ok := range map[string]bool{"%Y": true, "%%": true, "": true, "%Q": false, "at %": false} {
		if err := strftime.Check(format); (err == nil) != ok {
			t.Errorf("%q: %v", format, err)
		}
	}
}
