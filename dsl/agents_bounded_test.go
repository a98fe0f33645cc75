package dsl_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
)

// layers returns a spec with layers of agents: each agent calls all agents of the
// next layer.
func layers(depth, width int) map[string]string {
	files := map[string]string{}
	spec := func(layer, n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: a%d-%d}\nllms: {main: {provider: scripted}}\n", layer, n)
		if layer < depth {
			b.WriteString("tools:\n")
			for i := range width {
				fmt.Fprintf(&b, "  t%d: {type: agent, ref: a%d-%d.yaml}\n", i, layer+1, i)
			}
		}
		return b.String()
	}
	files["spec.yaml"] = spec(0, 0)
	for layer := 1; layer <= depth; layer++ {
		for n := range width {
			files[fmt.Sprintf("a%d-%d.yaml", layer, n)] = spec(layer, n)
		}
	}
	return files
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAgentWithSeveralCallersIsCompiledOnce(t *testing.T) {
	for width, want := range map[int]string{
		4:  "",
		8:  "the spec and the agents it calls have more than 1000 agent tools",
		40: "the spec and the agents it calls have more than 1000 agent tools",
	} {
		write(t, layers(4, width))
		var found string
		bytes := allocated(func() {
			_, _, list := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog})
			found = list.String()
		})
		if (found == "") != (want == "") || !strings.Contains(found, want) || strings.Count(found, want) > 1+40*40 {
			t.Errorf("%d agents a layer: %.2000s", width, found)
		}
		if most := uint64(1000) << 20; bytes > most {
			t.Errorf("%d agents a layer: %d MB were allocated", width, bytes>>20)
		}
		t.Logf("%d agents a layer: %d MB, %d bytes of diagnostics", width, bytes>>20, len(found))
	}
}

func TestLayeredAgentsAreCompiledOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		var b strings.Builder
		fmt.Fprintf(&b, "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: a%d}\nllms: {main: {provider: scripted}}\n", i)
		for j := i + 1; j < 30; j++ {
			if j == i+1 {
				b.WriteString("tools:\n")
			}
			fmt.Fprintf(&b, "  t%d: {type: agent, ref: a%d.yaml}\n", j, j)
		}
		files[fmt.Sprintf("a%d.yaml", i)] = b.String()
	}
	write(t, files)
	var found string
	bytes := allocated(func() {
		_, _, list := dsl.Compile("a0.yaml", dsl.Options{Catalog: catalog})
		found = list.String()
	})
	if !strings.Contains(found, "agents call agents more than 5 levels deep") {
		t.Errorf("%.2000s", found)
	}
	if bytes > 300<<20 {
		t.Errorf("%d MB were allocated", bytes>>20)
	}
	t.Logf("%d MB, %d bytes of diagnostics", bytes>>20, len(found))
}
