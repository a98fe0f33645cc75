package evalcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
)

// trendMost is the number of evaluations in a trend.
const trendMost = 40

// sparks are the levels of a trend, from 0% to 100%.
var sparks = []rune("▁▂▃▄▅▆▇█")

// trends returns a line for each suite with at least two evaluations, with the
// history of its pass rate. list has the latest evaluation first, as eval ls
// prints it.
func trends(list []batch.Summary) (lines []string) {
	var suites []string
	bySuite := map[string][]float64{}
	for _, e := range slices.Backward(list) {
		if e.Problem != "" || e.Trials == 0 {
			continue
		}
		if _, ok := bySuite[e.Suite]; !ok {
			suites = append(suites, e.Suite)
		}
		bySuite[e.Suite] = append(bySuite[e.Suite], e.PassRate)
	}
	for _, suite := range suites {
		rates := bySuite[suite]
		if len(rates) < 2 {
			continue
		}
		rates = rates[max(0, len(rates)-trendMost):]
		lines = append(lines, fmt.Sprintf("pass rate of %s, oldest first: %s  %s to %s", tty.Flat(suite), spark(rates), report.Percent(rates[0]), report.Percent(rates[len(rates)-1])))
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
