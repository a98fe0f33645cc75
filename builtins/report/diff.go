package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/text"
)

// figureDiff is a metric of two evaluations.
type figureDiff struct {
	name, before, after, change string
}

// figures returns the metrics of two evaluations side by side.
func figures(d *Diff) []figureDiff {
	a, b := &d.Before.Stats, &d.After.Stats
	out := []figureDiff{
		{"verdict", string(d.Before.Verdict), string(d.After.Verdict), ""},
		{"pass rate", rate(a.N, a.PassRate), rate(b.N, b.PassRate), points(b.PassRate-a.PassRate) + " points"},
		{"95% interval", interval(a.CILow, a.CIHigh), interval(b.CILow, b.CIHigh), ""},
		{"score", fmt.Sprintf("%.3f", a.Score), fmt.Sprintf("%.3f", b.Score), fmt.Sprintf("%+.3f", b.Score-a.Score)},
		countDiff("cases", a.N, b.N),
		countDiff("trials", a.Trials, b.Trials),
		countDiff("errors", a.Errors, b.Errors),
		countDiff("flaky cases", a.Flaky, b.Flaky),
	}
	out = append(out, costs(d)...)
	return append(
		out,
		spreadDiff("time per trial", a.Latency, b.Latency, seconds),
		figureDiff{"tokens per trial", text.Amount(int(a.Tokens.Mean)), text.Amount(int(b.Tokens.Mean)), ratio(a.Tokens.Mean, b.Tokens.Mean)},
	)
}

func countDiff(name string, a, b int) figureDiff {
	change := ""
	if a != b {
		change = fmt.Sprintf("%+d", b-a)
	}
	return figureDiff{name, strconv.Itoa(a), strconv.Itoa(b), change}
}

// spreadDiff formats the mean and the 95th percentile.
func spreadDiff(name string, a, b exprenv.Spread, text func(float64) string) figureDiff {
	both := func(s exprenv.Spread) string { return text(s.Mean) + ", p95 " + text(s.P95) }
	return figureDiff{name, both(a), both(b), ratio(a.Mean, b.Mean)}
}

func costs(d *Diff) []figureDiff {
	_, before := priced(&d.Before.Manifest)
	_, after := priced(&d.After.Manifest)
	if !before || !after {
		return nil
	}
	a, b := d.Before.Stats.Cost, d.After.Stats.Cost
	return []figureDiff{
		spreadDiff("cost per trial", a, b, dollars),
		{"total cost", dollars(a.Total), dollars(b.Total), ratio(a.Total, b.Total)},
	}
}

// ratio formats a change in percent.
func ratio(before, after float64) string {
	if before == 0 || before == after {
		return ""
	}
	return fmt.Sprintf("%+.0f%%", 100*(after-before)/before)
}

// origins returns the properties in which the two evaluations differ, such as the spec.
func origins(d *Diff) []figureDiff {
	a, b := &d.Before.Manifest, &d.After.Manifest
	out := []figureDiff{{"evaluation", a.ID, b.ID, ""}}
	add := func(name, x, y string) {
		if x != y {
			out = append(out, figureDiff{name, x, y, "changed"})
		}
	}
	add("suite", a.Suite, b.Suite)
	add("commit", brief(a.Commit), brief(b.Commit))
	add("suite digest", brief(a.Digest), brief(b.Digest))
	add("checks digest", brief(a.Grading), brief(b.Grading))
	add("dataset digest", brief(a.DatasetHash), brief(b.DatasetHash))
	add("cases", a.Filter, b.Filter)
	for i := range min(len(a.Variants), len(b.Variants)) {
		add(strings.TrimSpace("spec "+b.Variants[i].Name), brief(a.Variants[i].Spec.Digest), brief(b.Variants[i].Spec.Digest))
	}
	return out
}

// brief returns the start of a digest.
func brief(digest string) string {
	const prefix, most = "sha256:", 12
	if len(digest) > len(prefix) && digest[:len(prefix)] == prefix {
		digest = digest[len(prefix):]
	}
	return digest[:min(len(digest), most)]
}

// WriteDiff writes two evaluations side by side, and the cases that changed.
func (t *tableFormat) WriteDiff(w io.Writer, d *Diff) error {
	s := newSheet(t.set)
	rows := [][]string{{"", "before", "after", ""}}
	for _, f := range append(origins(d), figures(d)...) {
		rows = append(rows, []string{f.name, f.before, f.after, f.change})
	}
	s.grid("", rows)
	if c := d.Comparison; c != nil {
		changes(s, changesOf(c, d.After.Cases))
		comparison(s, c, d.After.Stats.PassRate)
	} else {
		s.title("The evaluations have no case in common")
	}
	_, err := io.WriteString(w, s.b.String())
	return err
}
