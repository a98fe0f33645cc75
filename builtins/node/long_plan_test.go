package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
)

// An oversized plan is rejected by its length alone, and the repair request quotes only
// part of the reply.
func TestOversizedPlanIsRejectedByItsLength(t *testing.T) {
	var steps strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&steps, `,"%d"`, i)
	}
	long := `{"steps":[` + steps.String()[1:] + `]}`
	var prompts []string
	h := perHost(2)
	h.Models = map[string]model.Model{"main": spoken{map[string][]string{
		"planner": {long, `{"result":"mended"}`},
	}, &prompts}}
	p := perProgram(t)
	res := runPER(p, h, "r")
	if res.Response != "mended" || len(prompts) != 2 {
		t.Fatalf("%s %q after %d calls", res.StopReason.Message, res.Response, len(prompts))
	}
	if again := prompts[1]; len(again) > 64<<10 || !strings.Contains(again, "the plan has 90000 steps; at most 100 are allowed") || !strings.Contains(again, `"89999"]}`) {
		t.Errorf("the prompt that asks again has %d bytes", len(again))
	}
}

func TestPlanErrorsAreTruncated(t *testing.T) {
	var steps strings.Builder
	for range 100 {
		fmt.Fprintf(&steps, `,{"goal":"g","tools":["%s"]}`, strings.Repeat("x", 5000))
	}
	var prompts []string
	h := perHost(2)
	h.Models = map[string]model.Model{"main": spoken{map[string][]string{
		"planner": {`{"steps":[` + steps.String()[1:] + `]}`, `{"result":"mended"}`},
	}, &prompts}}
	res := runPER(perProgram(t), h, "r")
	if res.Response != "mended" || len(prompts) != 2 {
		t.Fatalf("%s %q after %d calls", res.StopReason.Message, res.Response, len(prompts))
	}
	if again := prompts[1]; len(again) > 256<<10 || !strings.Contains(again, "- and 80 more") {
		t.Errorf("the prompt that asks again has %d bytes", len(again))
	}
}
