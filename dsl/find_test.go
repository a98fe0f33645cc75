package dsl_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
)

const testsHead = "apiVersion: pex/v1\nkind: Tests\n"

func TestKind(t *testing.T) {
	cases := []struct{ name, file, text, want string }{
		{"an agent", "x.yaml", agent, "Agent"},
		{"quoted, with a comment", "x.yaml", "# x\napiVersion: pex/v1\r\n\"kind\": 'Suite' # it is\r\n", "Suite"},
		{"after a mark of byte order", "x.yaml", "\xef\xbb\xbfkind: Tests\n", "Tests"},
		{"in brackets", "x.yaml", "\n {\"kind\": \"Library\"}", "Library"},
		{"none", "x.yaml", "a: b\n", ""},
		{"not at the top", "x.yaml", "a:\n  kind: Agent\ntext: |\n  kind: Agent\n", ""},
		{"another word", "x.yaml", "kinds: Agent\nkind of: Agent\n", ""},
		{"a mapping", "x.yaml", "kind: {a: b}\n", ""},
		{"a case", "case.yaml", "render: planner\n", "Tests"},
		{"a case that says so", "case.yaml", "kind: Tests\nrender: planner\n", "Tests"},
		{"an empty file", "x.yaml", "", ""},
		{"not YAML", "x.yaml", "kind: [\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t, map[string]string{c.file: c.text})
			if got, err := specfs.Kind(c.file); got != c.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
	t.Run("a pipe is not waited for", func(t *testing.T) {
		inFolder(t, nil)
		if err := syscall.Mkfifo("x.yaml", 0o600); err != nil {
			t.Skip(err)
		}
		if kind, err := specfs.Kind("x.yaml"); err == nil {
			t.Error(kind)
		}
	})
	if _, err := specfs.Kind("none.yaml"); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// project has tests of two specs in every place.
var project = map[string]string{
	"pex.lock":                    "",
	"spec.yaml":                   agent + "tests: [{name: in it, render: planner}]\n",
	"other.yaml":                  agent,
	"more.yaml":                   testsHead + "tests: [{name: a, render: planner}]\n",
	"of-other.yml":                testsHead + "spec: other.yaml # not the usual\ntests: [{name: a, render: planner}]\n",
	"suite.yaml":                  suiteHead,
	"tests/b.yaml":                testsHead + "tests: [{name: b, render: planner}]\n",
	"tests/of-other.yaml":         testsHead + "spec: '../other.yaml'\ntests: [{name: b, render: planner}]\n",
	"tests/one/case.yaml":         "render: planner\n",
	"tests/one/golden/x.yaml":     "a: b\n",
	"tests/two/case.yaml":         "spec: ../../other.yaml\nrender: planner\n",
	"tests/deep/er/case.yaml":     "render: planner\n",
	"sub/spec.yaml":               agent,
	"sub/tests/three/case.yaml":   "render: planner\n",
	".hidden/spec.yaml":           agent,
	"node_modules/x/spec.yaml":    agent,
	"testdata/spec.yaml":          agent,
	"sub/library.yaml":            "apiVersion: pex/v1\nkind: Library\n",
	"sub/.editor.yaml":            agent,
	"tests/one/cassette.jsonl":    "",
	"tests/notes.yaml":            "kind: Notes\n",
	"sub/tests/three/state.yaml":  "steps: []\n",
	"sub/tests/case.yaml/a.yaml":  "a folder with the name of a file\n",
	"sub/tests/x [1]/case.yaml":   "render: planner\n",
	"sub/tests/broken/case.yaml":  "render: [\n",
	"sub/tests/header/case.yaml":  testsHead + "render: planner\n",
	"sub/tests/header/other.yaml": "render: planner\n",
}

func TestFindTests(t *testing.T) {
	inFolder(t, project)
	cases := []struct {
		spec string
		want []string
	}{
		{"spec.yaml", []string{"more.yaml", "spec.yaml", "tests/b.yaml", "tests/one/case.yaml"}},
		{".", []string{"more.yaml", "spec.yaml", "tests/b.yaml", "tests/one/case.yaml"}},
		{"./other.yaml", []string{"of-other.yml", "tests/of-other.yaml", "tests/two/case.yaml"}},
		{"sub", []string{"sub/tests/broken/case.yaml", "sub/tests/header/case.yaml", "sub/tests/three/case.yaml", "sub/tests/x [1]/case.yaml"}},
		{"testdata", nil},
	}
	for _, c := range cases {
		t.Run(c.spec, func(t *testing.T) {
			got, err := specfs.FindTests(c.spec, options().Root)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
	if _, err := specfs.FindTests("none.yaml", options().Root); err == nil {
		t.Error("a spec that is not there has tests")
	}
}

// TestInvalidTestFilesAreFound: a file that is intended as tests but invalid is found, so
// that loading it reports the mistake.
func TestInvalidTestFilesAreFound(t *testing.T) {
	const one = "tests: [{name: a, render: planner}]\n"
	for _, c := range []struct{ name, file, text, told string }{
		{"a misspelt kind", "tests/a.yaml", "apiVersion: pex/v1\nkind: Test\n" + one, `unknown kind "Test"`},
		{"a case of another kind", "tests/a/case.yaml", "kind: tests\nrender: planner\n", `unknown kind "tests"`},
		{"a case of another name", "tests/a/case.yml", "render: planner\n", "must be in a file named case.yaml"},
		{"an empty case", "tests/a/case.yaml", "", "render: planner or run: {}"},
		{"a spec that is not there", "tests/a.yaml", testsHead + "spec: ../sepc.yaml\n" + one, "sepc.yaml"},
		{"a case of a spec that is not there", "tests/a/case.yaml", "spec: ../../sepc.yaml\nrender: planner\n", "sepc.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t, map[string]string{"pex.lock": "", "spec.yaml": agent, c.file: c.text})
			files, err := specfs.FindTests("spec.yaml", options().Root)
			if d := cmp.Diff([]string{c.file}, files); d != "" || err != nil {
				t.Fatal(d, err)
			}
			if _, found := dsl.LoadTests(files[0], options()); !found.Failed() || !strings.Contains(found.String(), c.told) {
				t.Errorf("told:\n%s", found)
			}
			if _, tests, err := specfs.Walk("."); err != nil || !slices.Equal(tests, files) {
				t.Errorf("walked: %v, %v", tests, err)
			}
		})
	}
	t.Run("nothing says which spec", func(t *testing.T) {
		inFolder(t, map[string]string{"pex.lock": "", "agent.yaml": agent, "tests/a/case.yaml": "render: planner\n"})
		if files, err := specfs.FindTests("agent.yaml", options().Root); err != nil || len(files) != 1 {
			t.Error(files, err)
		}
	})
	t.Run("a spec by another path", func(t *testing.T) {
		inFolder(t, map[string]string{"pex.lock": "", "real/spec.yaml": agent, "real/tests/a.yaml": testsHead + "spec: ../../link/spec.yaml\n" + one})
		if err := os.Symlink("real", "link"); err != nil {
			t.Skip(err)
		}
		if files, err := specfs.FindTests("real", options().Root); err != nil || len(files) != 1 {
			t.Error(files, err)
		}
	})
}

// TestFoundTestsLoad: the files found for a spec belong to it.
func TestFoundTestsLoad(t *testing.T) {
	inFolder(t, project)
	for _, spec := range []string{"spec.yaml", "other.yaml"} {
		files, err := specfs.FindTests(spec, options().Root)
		if err != nil {
			t.Fatal(err)
		}
		want, err := filepath.Abs(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			tests, found := dsl.LoadTests(f, options())
			if found.Failed() {
				t.Errorf("%s: %s", f, found)
			}
			for _, c := range tests.Cases {
				if real, _ := filepath.EvalSymlinks(want); c.Spec != real {
					t.Errorf("%s: the case %s is of %s, want %s", f, c.Name, c.Spec, real)
				}
			}
		}
	}
}

func TestWalk(t *testing.T) {
	inFolder(t, project)
	specs, tests, err := specfs.Walk(".")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"other.yaml", "spec.yaml", "sub/spec.yaml", "testdata/spec.yaml"}, specs); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"more.yaml", "of-other.yml", "sub/tests/broken/case.yaml", "sub/tests/header/case.yaml", "sub/tests/three/case.yaml", "sub/tests/x [1]/case.yaml",
		"tests/b.yaml", "tests/deep/er/case.yaml", "tests/of-other.yaml", "tests/one/case.yaml", "tests/two/case.yaml",
	}
	if diff := cmp.Diff(want, tests); diff != "" {
		t.Error(diff)
	}
	if _, _, err := specfs.Walk("none"); err == nil {
		t.Error("a folder that is not there was walked")
	}
}

// TestCasesOutsideAProject: without a marker file the root is the spec's
// folder.
func TestCasesOutsideAProject(t *testing.T) {
	inFolder(t, map[string]string{"spec.yaml": agent, "tests/one/case.yaml": "render: planner\ngiven: {file: ../../state.yaml}\n", "state.yaml": "steps: []\n"})
	tests, found := dsl.LoadTests("tests/one", options())
	if len(found) > 0 || len(tests.Cases) != 1 {
		t.Error(found)
	}
}
