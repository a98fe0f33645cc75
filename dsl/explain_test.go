package dsl_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/config"
)

func TestExplainNamesEveryOrigin(t *testing.T) {
	write(t, map[string]string{
		"spec.yaml": `apiVersion: pex/v1
kind: Agent
metadata: {name: demo}
include: [lib.yaml]
limits:
  max_steps: 3
planner:
  planner_prompt: {file: plan.md}
`,
		"lib.yaml": "apiVersion: pex/v1\nkind: Library\nllms:\n  main: {provider: scripted}\n",
		"plan.md":  "Plan.\n",
	})
	s, found := dsl.Load("spec.yaml", dsl.Options{
		Catalog: catalog, Set: []string{"limits.max_replans=2"},
		Environ: []string{"PEX_SET_LIMITS__MAX_TOKENS=9000", "OTHER=1"},
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	want := map[string]config.Origin{
		"metadata.name":                  {Value: "demo", Origin: "spec.yaml:3:18"},
		"limits.max_steps":               {Value: "3", Origin: "spec.yaml:6:14"},
		"limits.max_replans":             {Value: "2", Origin: "--set"},
		"limits.max_tokens":              {Value: "9000", Origin: "PEX_SET_LIMITS__MAX_TOKENS"},
		"limits.executor_max_iterations": {Value: "20", Origin: "default"},
		"llms.main.provider":             {Value: "scripted", Origin: "include lib.yaml:4:20"},
		"llms.main.retry.max_attempts":   {Value: "3", Origin: "default"},
		"planner.planner_prompt":         {Value: "Plan.", Origin: "plan.md:1:1"},
		"planner.plan_format":            {Value: "list", Origin: "default"},
		"memory.backend":                 {Value: "badger", Origin: "default"},
	}
	got := map[string]config.Origin{}
	for _, o := range s.Explain() {
		if w, ok := want[o.Path]; ok {
			w.Path = o.Path
			want[o.Path], got[o.Path] = w, o
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
