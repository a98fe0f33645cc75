package prompt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/prompt"
)

// FuzzTemplate checks Parse and Render for any source and value: no panic,
// problems inside the source, literal values, no second scan.
func FuzzTemplate(f *testing.F) {
	for _, src := range []string{
		"Hi ${parameters.v}", "${parameters.v:-${parameters.w}}", "$<parameters.v|trim|indent 3:-<x>>", "$${parameters.v}",
		"${parameters.${parameters.v}}", "${parameters.v", "{{parameters.v}} $(parameters.v) ${param.v}", "${parameters.v[0].a}",
	} {
		f.Add(src, "v")
		f.Add(src, "${parameters.secret}")
	}
	const canary = "c4n4ry"
	o := prompt.Options{Namespaces: []string{"parameters"}}
	f.Fuzz(func(t *testing.T, src, v string) {
		if strings.Contains(src, "secret") || strings.Contains(src+v, canary) {
			return
		}
		tpl, problems := prompt.Parse(src, o)
		for _, p := range problems {
			if p.Offset < 0 || p.Length <= 0 || p.Offset+p.Length > len(src) || p.Message == "" {
				t.Fatalf("problem outside the source: %+v", p)
			}
		}
		rendered := false
		lookup := func(_, name string) (any, bool) {
			switch name {
			case "secret":
				return canary, true
			case "v":
				rendered = true
				return v, true
			}
			return nil, false
		}
		got := tpl.Text(lookup)
		if strings.Contains(got, canary) {
			t.Fatalf("%q with %q gave %q", src, v, got)
		}
		if rendered && !strings.ContainsAny(src, "|.[") && !strings.Contains(got, v) {
			t.Fatalf("%q with %q gave %q", src, v, got)
		}
		if !prompt.Failed(problems) && !strings.Contains(src, "$") && got != src {
			t.Fatalf("text %q became %q", src, got)
		}
		if diff := cmp.Diff(tpl.Render(lookup), tpl.Render(lookup)); diff != "" {
			t.Fatal(diff)
		}
		if head, _ := prompt.Parse("["+"${parameters.v}"+"]", o); head.Text(lookup) != "["+v+"]" {
			t.Fatalf("value %q did not stay as it is", v)
		}
		if fence := prompt.Fence(src); strings.Contains(src, fence) {
			t.Fatalf("fence %s occurs in %q", fence, src)
		}
	})
}
