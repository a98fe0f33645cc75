package dsl_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
)

// leaving is a context that ends at the nth call of Err or Done.
type leaving struct {
	context.Context
	left, asked int
}

func (l *leaving) Err() error {
	if l.asked++; l.asked > l.left {
		return context.Canceled
	}
	return nil
}

// TestVetStopsWhenCanceled: wherever Vet is canceled, it reports nothing, opens
// no other file, and does not fail on partial results.
func TestVetStopsWhenCanceled(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lib.yaml":    "apiVersion: pex/v1\nkind: Library\nprompts: {who: A planner.}\n",
		"helper.yaml": "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: helper, description: helps}\nllms: {main: {provider: scripted}}\ntools: {clock: {}}\n",
		"suite.yaml":  "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: x}\nspec: spec.yaml\ndataset: {rows: [{id: a, question: q}]}\nvariants: {a: {}, b: {spec: helper.yaml}}\n",
		"spec.yaml": "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: x}\ninclude: [lib.yaml]\nllms: {main: {provider: scripted}}\n" +
			"tools: {clock: {}, helper: {type: agent, ref: helper.yaml}}\nplanner: {system_prompt: {use: who}}\nevals: [suite.yaml]\n" +
			"guards: [{name: g, at: after_step, when: run.tokens > 3, do: stop}]\ntests: [{name: a, render: planner}, {name: a, render: planner}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for n := 0; ; n++ {
		ctx := &leaving{Context: t.Context(), left: n}
		late := 0
		o := options()
		o.Context = ctx
		o.Analyzers = []dsl.Analyzer{{Name: "all", Run: func(*dsl.Pass) {}}}
		o.Read = func(string) ([]byte, error) {
			if ctx.asked > ctx.left {
				late++
			}
			return nil, specfs.ErrOnDisk
		}
		_, found := dsl.Vet(filepath.Join(dir, "spec.yaml"), o)
		if ctx.asked <= ctx.left {
			if n < 30 || !found.Failed() {
				t.Errorf("it was asked %d times, and %v was found", n, found)
			}
			return
		}
		if len(found) > 0 || late > 1 { // the current file is read to its end
			t.Errorf("given up at %d: %d files were opened, and it says %v", n, late, found)
		}
	}
}
