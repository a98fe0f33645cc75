package report_test

import (
	"strings"
	"testing"

	formats "github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
)

// cellOf returns the pass rate as shown in the table of rates.
func cellOf(t *testing.T, rate float64) string {
	t.Helper()
	r := &report.Report{}
	r.Stats.N, r.Stats.PassRate = 1, rate
	for line := range strings.Lines(render(t, "table", formats.Settings{}, r, nil)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "all" {
			return fields[1]
		}
	}
	t.Fatal("the table has no line for all")
	return ""
}

func TestRateBelow100PercentIsNotRoundedTo100(t *testing.T) {
	for _, c := range []struct {
		rate float64
		want string
	}{
		{1, "100.0%"}, {0.9999, "99.9%"}, {0.9994, "99.9%"}, {0.5, "50.0%"}, {0.0001, "0.1%"}, {0, "0.0%"},
	} {
		if got := cellOf(t, c.rate); got != c.want {
			t.Errorf("%v reads %s, want %s", c.rate, got, c.want)
		}
	}
}

func TestUngradedCasesHaveNoRate(t *testing.T) {
	r := &report.Report{Manifest: report.Manifest{Variants: []report.VariantInfo{{Priced: true}}}}
	r.Stats.Trials, r.Stats.Errors, r.DurationMS = 2, 2, 5000
	none := exprenv.GroupStats{Trials: 2, Errors: 2}
	r.Stats.ByCheck = map[string]exprenv.GroupStats{"cheap": none, "right": none}
	r.Stats.ByGroup = map[string]exprenv.GroupStats{"all of it": none}
	for _, typ := range []string{"table", "markdown"} {
		if got := render(t, typ, formats.Settings{}, r, nil); strings.Contains(got, "0.0%") || strings.Contains(got, "0/0") || strings.Contains(got, "0ms") {
			t.Error(got)
		}
	}
}

func TestInconclusiveComparisonsShowTheDetectableDrop(t *testing.T) {
	r, rows := synthetic()
	c := r.Comparison
	c.Verdict, c.Difference, c.Detectable, c.CasesNeeded, c.P = "inconclusive", -0.0002, 0.081, 640, 0.0001
	r.Verdict = report.VerdictInconclusive
	for typ, parts := range map[string][]string{
		"table":    {"? shop-questions: inconclusive", "-0.02 points", "p < 0.001", "minimum detectable drop at 80% power: 8.1 points; about 640 cases"},
		"markdown": {"### ? ", "Minimum detectable drop at 80% power: 8.1 points; about 640 cases are needed for a margin of 2.0 points."},
	} {
		got := text.OneLine(render(t, typ, formats.Settings{}, r, rows))
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s lacks %q:\n%s", typ, part, got)
			}
		}
	}
}

func TestUnknownCostsAreNotShown(t *testing.T) {
	r, rows := synthetic()
	r.Manifest.Variants[1].Priced = false
	if got := render(t, "table", formats.Settings{}, r, rows); !strings.Contains(got, "at least $0.0250 (some LLMs have no price)") {
		t.Error(got)
	}
	r.Manifest.Variants[0].Priced = false
	if got := render(t, "table", formats.Settings{}, r, rows); !strings.Contains(got, "cost unknown (no LLM has a price)") || strings.Contains(got, "0.0010") {
		t.Error(got)
	}
}
