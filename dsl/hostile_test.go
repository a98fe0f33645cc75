package dsl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/goldentest"
)

// bombs are files that would use excessive memory or time without limits.
func bombs() map[string]string {
	r := strings.Repeat
	laughs := head + "parameters:\n  x: &a0 [lol, lol]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("  x%d: &a%d [%s]\n", i, i, strings.TrimSuffix(r(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	var keys, aliases strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for range 10_000 {
		aliases.WriteString("- *big\n")
	}
	mebi := 1 << 20
	return map[string]string{
		"a billion laughs":           laughs,
		"a large text aliased often": "big: &big " + r("x", mebi-200_000) + "\nall:\n" + aliases.String(),
		"a large text aliased a few": "big: &big " + r("x", 900_000) + "\nall: [" + r("*big,", 90) + "*big]\n",
		"an anchor in itself":        "a: &a [*a]\n",
		"a merge of itself":          "a: &a\n  <<: *a\n",
		"merges of merges":           "a: &a {x: 1}\nb: &b {<<: [" + r("*a,", 99) + "*a]}\n",
		"brackets":                   "a: " + r("[", mebi-10),
		"braces":                     "a: " + r("{a: ", mebi/4-10),
		"dashes":                     r("- ", mebi/2),
		"questions":                  r("? ", mebi/2),
		"colons":                     "a" + r(": ", mebi/2-10),
		"nested indentation":         nested(1000),
		"many keys":                  keys.String(),
		"many items":                 "a: [" + r("1,", mebi/2-10) + "]",
		"many lines":                 "a:\n" + r("- 1\n", mebi/4-10),
		"many comments":              r("#\n", mebi/2),
		"one comment":                "a: 1 #" + r("x", mebi-100),
		"many documents":             r("---\n", mebi/4),
		"many anchors":               "a: [" + r("&x 1,", mebi/5-10) + "]",
		"many tags":                  "a: [" + r("!x 1,", mebi/5-10) + "]",
		"a quote without end":        `a: "` + r("x", mebi-10),
		"many quotes":                "a: [" + r(`"",`, mebi/3-10) + "]",
		"a block without end":        "a: |\n" + r(" x\n", mebi/3-10),
		"blank lines":                "a:" + r("\n", mebi-10),
		"spaces":                     "a:" + r(" ", mebi-10),
		"tabs":                       "a:" + r("\t", mebi-10),
		"escapes":                    `a: "` + r(`\u0041`, mebi/6-10) + `"`,
		"folded lines":               "a: x\n" + r(" y\n", mebi/3-10),
		"a long key":                 r("k", mebi-10) + ": 1",
		"not text":                   r("\x00\xff\xfe", 1000),
		"directives":                 r("%YAML 1.2\n", 10_000) + "---\na: 1",
		"too large":                  "a: " + r("x", mebi),
		"all references":             head + "planner:\n  planner_prompt: |\n    " + r("${parameters.x} ", 50_000) + "\n",
		"open references":            head + "planner:\n  planner_prompt: \"" + r("${parameters.x:-", 50_000) + "\"\n",
		"a long expression":          head + "reflector: {when: '" + r("(", 500_000) + "'}\n",
	}
}

func nested(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestBombsAreRejectedCheaply(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	// Processor time and allocated bytes, which do not depend on the load of the
	// machine. Typical values are 0.2 s and 43 MB, more under the race detector.
	const most, memory = 10 * time.Second, 128 << 20
	for name, src := range bombs() {
		t.Run(name, func(t *testing.T) {
			write(t, map[string]string{"spec.yaml": src})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := processorTime(t)
			p, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog})
			took := processorTime(t) - began
			runtime.ReadMemStats(&after)
			if p != nil || !found.Failed() {
				t.Error("it is no spec")
			}
			if took > most {
				t.Errorf("it took %s of the processor", took)
			}
			allocated := after.TotalAlloc - before.TotalAlloc
			if allocated > memory {
				t.Errorf("it allocated %d MB", allocated>>20)
			}
			if os.Getenv("PEX_BOMBS") != "" {
				t.Logf("%s, allocated %d MB: %s", took, allocated>>20, found[0].Message)
			}
		})
	}
}

// processorTime returns the CPU time used by this process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestNothingOutsideTheRootIsRead(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.md")
	if err := os.WriteFile(secret, []byte("the secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, map[string]string{"in/agent/ok.md": "fine", "in/agent/dir/x.md": "x"})
	for link, to := range map[string]string{
		"in/agent/link.md": secret, "in/agent/links": outside, "in/agent/up": "../..", "in/agent/abs": "/", "in/agent/loop": "loop",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo("in/agent/pipe", 0o644); err != nil {
		t.Skip(err)
	}
	cases := []string{
		"../secret.md", "../../secret.md", "../../../../../../../../etc/passwd", "/etc/passwd", "/proc/self/environ", "//etc/passwd",
		secret, "link.md", "links/secret.md", "links/", "up/agent/ok.md/../../../x", "up/../secret.md", "abs/etc/passwd", "loop",
		"dir/../../x.md", "./../x.md", "dir/./../../../x.md", "..", ".", "dir", "dir/", "pipe", "./pipe", "~/.ssh/id_rsa", "~root/x",
		"file:///etc/passwd", "https://example.com/x", "ok.md/", "ok.md/x", "..%2f..%2fetc/passwd", "....//x", "..\\..\\x", "C:\\x",
		"/dev/zero", "/dev/stdin", "abs/dev/zero", "abs/dev/fd/0", "x\x00.md", "", " ", "\n", "dir/\x00/../ok.md", strings.Repeat("a/", 5000),
		strings.Repeat("../", 300) + "etc/passwd", "dir//../..//x", "links/../links/secret.md", "/proc/self/root/etc/passwd",
	}
	for _, name := range cases {
		for _, root := range []string{"", "in"} {
			spec := head + fmt.Sprintf("planner: {planner_prompt: {file: %q}}\n", name)
			if err := os.WriteFile("in/agent/spec.yaml", []byte(spec), 0o644); err != nil {
				t.Fatal(err)
			}
			done := make(chan diag.List, 1)
			go func() {
				_, _, found := dsl.Compile("in/agent", dsl.Options{Catalog: catalog, Root: root})
				done <- found
			}()
			select {
			case found := <-done:
				if !found.Failed() {
					t.Errorf("%q was read", name)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%q hangs", name)
			}
		}
	}
}

func TestSpecMayBeAnyFile(t *testing.T) {
	write(t, map[string]string{"a/x.yml": head})
	for path, want := range map[string]bool{"a/x.yml": true, "a": false, "nosuch": false} {
		p, _, found := dsl.Compile(path, dsl.Options{Catalog: catalog})
		if (p != nil) != want {
			t.Errorf("%s: %s", path, found)
		}
	}
}

func TestVetExecutesNothing(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	if err != nil {
		t.Skip(err)
	}
	for p := range strings.FieldsSeq(string(out)) {
		if slices.Contains([]string{"os/exec", "net", "net/http", "plugin", "unsafe"}, p) {
			t.Errorf("dsl imports %s", p)
		}
	}
}

func FuzzSpec(f *testing.F) {
	seeds(f)
	dir := f.TempDir()
	path := filepath.Join(dir, "spec.yaml")
	f.Fuzz(func(t *testing.T, src []byte) {
		if err := os.WriteFile(path, src, 0o644); err != nil {
			t.Fatal(err)
		}
		began := processorTime(t)
		p, s, found := dsl.Compile(path, dsl.Options{Catalog: catalog})
		if took := processorTime(t) - began; took > 20*time.Second {
			t.Errorf("it took %s of the processor", took)
		}
		if (p == nil) != found.Failed() {
			t.Errorf("program %v, but %s", p != nil, found)
		}
		_ = found.String()
		if s != nil {
			s.Explain()
		}
		if p == nil {
			return
		}
		again, more := dsl.Recompile(p.Source, dir, dsl.Options{Catalog: catalog})
		if again == nil || again.Digest != p.Digest {
			t.Errorf("compiled again it differs: %s\n%s", more, p.Source)
		}
	})
}

// FuzzTestsAndSuites checks that any file of tests or a suite is read in bounded
// time, and that it can be shown if it has no errors.
func FuzzTestsAndSuites(f *testing.F) {
	seeds(f)
	for _, name := range []string{"cases", "suite", "case-folder"} {
		a := goldentest.Txtar(f, "../testdata/tests/"+name+".txtar")
		for _, file := range a.Names() {
			if filepath.Ext(file) == ".yaml" {
				f.Add([]byte(a.Input(f, file)))
			}
		}
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(agent), 0o644); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(dir, "x.yaml")
	f.Fuzz(func(t *testing.T, src []byte) {
		if err := os.WriteFile(path, src, 0o644); err != nil {
			t.Fatal(err)
		}
		began := processorTime(t)
		_, found := dsl.Vet(path, options())
		tests, of := dsl.LoadTests(path, options())
		suite, also := dsl.LoadSuite(path, options())
		if took := processorTime(t) - began; took > 20*time.Second {
			t.Errorf("it took %s of the processor", took)
		}
		if tests == nil && !of.Failed() || suite == nil && !also.Failed() {
			t.Errorf("nothing is wrong, and nothing was read: %s%s", of, also)
		}
		_ = found.String()
	})
}
