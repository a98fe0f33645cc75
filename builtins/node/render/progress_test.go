package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
)

func TestHistoryShowsAllUpToTheLimitThenTheNewest(t *testing.T) {
	for limit, most := range map[render.History]int{0: 0, 1: 1, 4: 4, 5: 1, 10: 2, 50: 10} {
		last := 0
		for n := range 300 {
			first := limit.First(n)
			shown := n - first
			switch {
			case n <= int(limit) && first != 0:
				t.Errorf("limit %d: of %d steps the first %d are left out", limit, n, first)
			case n > int(limit) && (shown > most || shown < min(most, 1)):
				t.Errorf("limit %d: %d of %d steps are shown, want at most %d", limit, shown, n, most)
			case first < last:
				t.Errorf("limit %d: a step shown after %d steps was left out before", limit, n)
			}
			last = first
		}
	}
}

// Condensed progress still contains the IDs and statuses of all steps, the errors of
// failed steps, and the results that no review has seen.
func TestProgressNeverLosesStepsStatusesOrUnseenResults(t *testing.T) {
	for done := range 40 {
		for fresh := range done + 1 {
			st := engine.State{}
			for i := 1; i <= 40; i++ {
				id := fmt.Sprintf("s%d", i)
				if i%7 == 0 {
					id = fmt.Sprintf("check-%d", i)
				}
				st.Plan.Steps = append(st.Plan.Steps, plan.Step{ID: id, Goal: fmt.Sprintf("goal <%d>", i)})
				if i > done {
					continue
				}
				rec := plan.StepRecord{ID: id, Goal: "goal", Status: plan.OK, Result: fmt.Sprintf("result <%d>", i)}
				if i%5 == 0 {
					rec.Status, rec.Error = plan.Failed, fmt.Sprintf("error <%d>", i)
				}
				st.Steps = append(st.Steps, rec)
				if i > done-fresh {
					st.EndedSinceReview = append(st.EndedSinceReview, id)
				}
			}
			text := strings.Join(render.Progress(&st, 10, false), "")
			shown := statuses(text)
			for i, step := range st.Plan.Steps {
				n := i + 1
				switch {
				case n > done:
					if !strings.Contains(text, step.ID+": "+step.Goal+"\n") || shown[step.ID] != "remaining" {
						t.Fatalf("%d done: step %s is not listed as remaining:\n%s", done, step.ID, text)
					}
				case shown[step.ID] != string(st.Steps[i].Status):
					t.Fatalf("%d done: step %s is shown as %q:\n%s", done, step.ID, shown[step.ID], text)
				case st.Steps[i].Error != "" && !strings.Contains(text, st.Steps[i].Error):
					t.Fatalf("%d done: the error of step %s is lost:\n%s", done, step.ID, text)
				case n > done-fresh && !strings.Contains(text, st.Steps[i].Result):
					t.Fatalf("%d done: the new result of step %s is lost:\n%s", done, step.ID, text)
				}
			}
			whole := strings.Join(render.Progress(&st, 10, true), "")
			for i := range st.Steps {
				if !strings.Contains(whole, st.Steps[i].Result) || !strings.Contains(whole, st.Plan.Steps[i].Goal) {
					t.Fatalf("%d done: the whole text lacks step %s:\n%s", done, st.Steps[i].ID, whole)
				}
			}
		}
	}
}

// statuses parses the status of each step from a text.
func statuses(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if older, ok := strings.CutPrefix(line, "Older results, shown again in the last review: "); ok {
			for part := range strings.SplitSeq(older, "; ") {
				ids, rest, _ := strings.Cut(part, " [")
				status, _, _ := strings.Cut(rest, "]")
				set(out, ids, status)
			}
		} else if ids, ok := strings.CutPrefix(line, "Remaining: "); ok {
			set(out, ids, "remaining")
		} else if id, status, ok := strings.Cut(line, " ["); ok && strings.HasSuffix(status, "]:") {
			set(out, id, strings.TrimSuffix(status, "]:"))
		}
	}
	return out
}

func set(out map[string]string, ids, status string) {
	for part := range strings.SplitSeq(ids, ", ") {
		var from, to int
		if n, _ := fmt.Sscanf(part, "s%d-s%d", &from, &to); n < 2 {
			out[part] = status
			continue
		}
		for i := from; i <= to; i++ {
			out[fmt.Sprintf("s%d", i)] = status
		}
	}
}
