package evalcmd

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
)

// sparks are the levels of a trend, from 0% to 100%.
var sparks = []rune("▁▂▃▄▅▆▇█")

// trends returns a line for each trend in a list, with the history of its pass rate. list has the
// latest evaluation first, as eval ls prints it.
func trends(list []batch.Summary) (lines []string) {
	for _, t := range batch.Trends(list) {
		rates := make([]float64, len(t.Evaluations))
		for i, e := range t.Evaluations {
			rates[i] = e.PassRate
		}
		lines = append(lines, fmt.Sprintf("pass rate of %s, oldest first: %s  %s to %s", tty.Flat(t.Suite), spark(rates), report.Percent(rates[0]), report.Percent(rates[len(rates)-1])))
	}
	return lines
}

// spark formats rates as a line of bars.
func spark(rates []float64) string {
	var b strings.Builder
	for _, r := range rates {
		at := int(r * float64(len(sparks)))
		b.WriteRune(sparks[min(max(at, 0), len(sparks)-1)])
	}
	return b.String()
}
