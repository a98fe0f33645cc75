package golden_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/eval/golden"
)

// BenchmarkCompareTwoHundredCases measures 200 cases with five prompts, their parameters, tools and a trajectory,
// when nothing changed.
func BenchmarkCompareTwoHundredCases(b *testing.B) {
	const cases, prompts = 200, 5
	text := strings.Repeat("You are given a question and tools; plan the steps that answer it, /work/shop/x.\n", 60)
	var got []golden.Artifact
	files := map[string]string{}
	add := func(name, text string) { got = append(got, golden.Artifact{Name: name, Text: text}) }
	for i := range prompts {
		add(fmt.Sprintf("n%d.prompt.md", i), text)
		add(fmt.Sprintf("n%d.params.json", i), `{"temperature": 0.5}`)
	}
	add("tools.json", strings.Repeat(`{"name": "search", "description": "Finds things."}`+"\n", 40))
	add("trajectory.json", "["+strings.Repeat(`{"tool": "search", "result": "2026-01-02T15:04:05Z `+idA+` some text that is found"},`+"\n", 100)+"{}]")
	rules := []testspec.Redact{{Name: "id", Pattern: `u-\d+`}, {Name: "when", Path: "/*/started"}}
	place := golden.FolderAlias{Dir: "/work/shop", Name: "root"}
	for _, a := range mask(b, rules, place).Apply(got) {
		for i := range cases {
			files[fmt.Sprintf("tests/c%d/golden/%s", i, a.Name)] = a.Text
		}
	}
	root := project(b, files)
	for b.Loop() {
		tree := open(b, root, false)
		for i := range cases {
			c, err := tree.Case(fmt.Sprint(i), filepath.Join(root, "tests", fmt.Sprintf("c%d", i), "golden"))
			if err != nil {
				b.Fatal(err)
			}
			c.Mask = mask(b, rules, place)
			if changes, err := c.Compare(got, false); err != nil || len(changes) > 0 {
				b.Fatal(len(changes), err)
			}
		}
		if unused, err := tree.Unused(tree.Folders()...); err != nil || len(unused) > 0 {
			b.Fatal(len(unused), err)
		}
	}
}
