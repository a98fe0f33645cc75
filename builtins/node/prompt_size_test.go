package node_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// promptMeter counts the characters of the prompts of a PER run, and how many of them
// repeat the start of the previous prompt of the same role.
type promptMeter struct {
	perModel
	chars, repeats, shared map[string]int // repeats: characters of all prompts except the first
	last                   map[string]string
	systems                map[string]int
}

func newPromptMeter(k int) *promptMeter {
	return &promptMeter{perModel{k}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]string{}, map[string]int{}}
}

func (m *promptMeter) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	var b strings.Builder
	for _, msg := range req.Messages {
		for _, s := range msg.Text {
			b.WriteString(s)
		}
		for _, c := range msg.Calls {
			b.WriteString(c.Name)
			b.Write(c.Args)
		}
	}
	m.systems[req.Role] = len(req.Messages[0].Text.String())
	prompt := b.String()
	if last, again := m.last[req.Role]; again {
		m.repeats[req.Role] += len(prompt)
		m.shared[req.Role] += commonPrefix(prompt, last)
	}
	m.chars[req.Role] += len(prompt)
	m.last[req.Role] = prompt
	return m.perModel.Generate(ctx, req, stream)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// TestPromptSizes records the characters sent in a whole run, and the share that a
// provider's prompt cache can serve, so that every change in the size of the default
// prompts shows up in review.
func TestPromptSizes(t *testing.T) {
	roles := []string{"planner", "executor", "reflector"}
	var b strings.Builder
	b.WriteString("Characters of the prompts of a run of k steps, and the part that repeats the beginning of the previous prompt of the role.\n\n")
	b.WriteString("| k | planner | executor | reflector | all | per step | shared: executor | reflector | all |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, k := range []int{5, 20, 40, 100} {
		m := newPromptMeter(k)
		h := perHost(k)
		h.Models = map[string]model.Model{"main": m}
		if res := runPER(perProgram(t), h, "r"); res.Status != stop.RunCompleted {
			t.Fatal(k, res.StopReason)
		}
		all, repeats, shared := 0, 0, 0
		fmt.Fprintf(&b, "| %d |", k)
		for _, role := range roles {
			all, repeats, shared = all+m.chars[role], repeats+m.repeats[role], shared+m.shared[role]
			fmt.Fprintf(&b, " %d |", m.chars[role])
		}
		percent := func(part, of int) string { return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(of)) }
		fmt.Fprintf(&b, " %d | %d | %s | %s | %s |\n", all, all/k, percent(m.shared["executor"], m.repeats["executor"]),
			percent(m.shared["reflector"], m.repeats["reflector"]), percent(shared, repeats))
		if k == 100 {
			b.WriteString("\n| role | system prompt |\n| --- | --- |\n")
			for _, role := range roles {
				fmt.Fprintf(&b, "| %s | %d |\n", role, m.systems[role])
			}
		}
	}
	goldentest.File(t, "prompt/sizes.md", b.String())
}
