package converttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/engine/goldentest"
)

// Converter converts a file, with others that belong to it.
type Converter func(convert.Input, ...convert.Input) (convert.Result, error)

// Sample reads a file of testdata/import. A file beside it can be opened.
func Sample(t testing.TB, name string) convert.Input {
	t.Helper()
	path := filepath.Join("../../../testdata/import", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return convert.Input{Name: filepath.Base(path), Text: text, Open: func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(filepath.Dir(path), filepath.FromSlash(name)))
	}}
}

// Golden compares the result of a sample with NAME.golden beside it, and checks
// that a second conversion has the same result and that no secret is copied:
// secrets of samples contain made-up.
func Golden(t *testing.T, do Converter, name string) {
	t.Helper()
	got, err := do(Sample(t, name))
	if err != nil {
		t.Fatal(err)
	}
	again, err := do(Sample(t, name))
	if err != nil || cmp.Diff(got, again) != "" {
		t.Errorf("a second conversion differs: %v\n%s", err, cmp.Diff(got, again))
	}
	goldentest.File(t, "../../../../testdata/import/"+name+".golden", Shown(got))
	if strings.Contains(Shown(got), "made-up") {
		t.Error("a secret was copied")
	}
}

// Shown returns a result as text.
func Shown(r convert.Result) string {
	var b strings.Builder
	for _, f := range r.Files {
		fmt.Fprintf(&b, "-- %s --\n%s", f.Path, f.Text)
	}
	b.WriteString("-- notes --\n")
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "%s %s: %s\n", n.Outcome, n.Path, n.What)
	}
	return b.String()
}

// NothingIsLost checks that every scalar of a sample matters: it has a note, or
// changing it changes the result. except are paths of values that carry no
// information.
func NothingIsLost(t *testing.T, do Converter, name string, atLeast int, except ...string) {
	t.Helper()
	in := Sample(t, name)
	var root any
	if err := yaml.Unmarshal(in.Text, &root); err != nil {
		t.Fatal(err)
	}
	converted := func() (convert.Result, error) {
		text, err := yaml.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		changed := in
		changed.Text = text
		return do(changed)
	}
	before, err := converted()
	if err != nil {
		t.Fatal(err)
	}
	leaves := 0
	eachValue(root, "", func(path string, set func(any)) {
		leaves++
		if noted(before.Notes, path) || slices.Contains(except, path) {
			return
		}
		set("changed")
		after, err := converted()
		if err == nil && cmp.Diff(unordered(before), unordered(after)) == "" {
			t.Errorf("%s: %s is in no file and no note", name, path)
		}
	})
	if leaves < atLeast {
		t.Errorf("%s: only %d values were checked", name, leaves)
	}
}

// unordered returns a result without the order of keys.
func unordered(r convert.Result) any {
	files := map[string]any{}
	for _, f := range r.Files {
		var v any
		if yaml.Unmarshal(f.Text, &v) == nil {
			files[f.Path] = v
		}
	}
	notes := map[convert.Note]bool{}
	for _, n := range r.Notes {
		notes[n] = true
	}
	return []any{files, notes}
}

func noted(notes []convert.Note, path string) bool {
	for _, n := range notes {
		if n.Path == path || (n.Outcome != convert.Changed && (strings.HasPrefix(path, n.Path+".") || strings.HasPrefix(path, n.Path+"["))) {
			return true
		}
	}
	return false
}

// eachValue visits each scalar below v and then restores it; set changes it.
func eachValue(v any, path string, visit func(path string, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for key, sub := range v {
			at := strings.TrimPrefix(path+"."+key, ".")
			if leaf(sub) {
				visit(at, func(x any) { v[key] = x })
				v[key] = sub
			}
			eachValue(sub, at, visit)
		}
	case []any:
		for i, sub := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			if leaf(sub) {
				visit(at, func(x any) { v[i] = x })
				v[i] = sub
			}
			eachValue(sub, at, visit)
		}
	}
}

func leaf(v any) bool {
	switch v.(type) {
	case map[string]any, []any, nil:
		return false
	}
	return true
}

// Fuzz checks that hostile input is refused or becomes YAML. seeds are samples.
func Fuzz(f *testing.F, do Converter, seeds ...string) {
	for _, name := range seeds {
		f.Add(Sample(f, name).Text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := do(convert.Input{Name: "x.yaml", Text: text})
		if err != nil {
			return
		}
		for _, file := range r.Files {
			if !strings.HasSuffix(file.Path, ".yaml") {
				continue
			}
			var v map[string]any
			if err := yaml.Unmarshal(file.Text, &v); err != nil {
				t.Fatalf("%s: %v\n%s", file.Path, err, file.Text)
			}
		}
	})
}
