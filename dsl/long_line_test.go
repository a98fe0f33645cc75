//go:build !race

package dsl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

// Each diagnostic of a long line reads only the text near its position, not the
// whole line.
func TestManyMistakesOnOneLongLineAreFast(t *testing.T) {
	var nodes strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&nodes, "{id: n%d, type: humn}, ", i)
	}
	write(t, map[string]string{"spec.yaml": head + "graph: {nodes: [" + nodes.String() + "]}\n"})
	var found diag.List
	var text string
	bytes := allocated(func() {
		_, _, found = dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog})
		text = found.String()
	})
	if last := found[len(found)-1]; len(found) != 101 || found.Errors() != 100 || last.Code != diag.TooMany || last.Severity != diag.Error || !strings.HasPrefix(last.Message, "and ") {
		t.Errorf("%d diagnostics, the last: %s", len(found), last)
	}
	if len(text) > 64<<10 || !strings.Contains(text, "{id: n5, type: humn}") {
		t.Errorf("%d bytes of text, which begin %.300s", len(text), text)
	}
	if bytes > 150<<20 {
		t.Errorf("%d MB were allocated", bytes>>20)
	}
	t.Logf("%d MB", bytes>>20)
}

// An error after many warnings is reported.
func TestAnErrorAfterTooManyWarningsIsShown(t *testing.T) {
	doubtful := strings.Repeat("${param.question} ", 60)
	write(t, map[string]string{"spec.yaml": head + fmt.Sprintf("planner: {system_prompt: %q, planner_prompt: %q}\nfinalizer: {system_prompt: '${parameters.nope}'}\n", doubtful, doubtful)})
	p, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog})
	last := found[len(found)-1]
	if p != nil || found.Errors() != 1 || found.Warnings() != 99 || last.Message != "and 21 more" {
		t.Errorf("%d errors, %d warnings, the last: %s", found.Errors(), found.Warnings(), last)
	}
}

func TestCaretOfALongLineIsAligned(t *testing.T) {
	pad := strings.Repeat("x", 20_000)
	write(t, map[string]string{"spec.yaml": head + `parameters: {a: {type: string, description: "` + pad + `"}, b: {type: strng}, c: {type: string, description: "` + pad + `"}}` + "\n"})
	_, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog})
	lines := strings.Split(found.String(), "\n")
	if len(found) != 1 || len(lines) < 3 {
		t.Fatalf("%s", found)
	}
	_, line, _ := strings.Cut(lines[1], "| ")
	_, caret, _ := strings.Cut(lines[2], "| ")
	if at := []rune(line)[len(caret)-1:]; !strings.HasPrefix(string(at), "strng") {
		t.Errorf("the caret is at %q of %q", string(at), line)
	}
	if found[0].EndColumn != found[0].Column+len("strng") {
		t.Errorf("columns %d to %d", found[0].Column, found[0].EndColumn)
	}
}
