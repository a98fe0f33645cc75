package goldentest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/goldentest"
)

// spy implements goldentest.T and records the messages.
type spy struct {
	errors, fatals []string
}

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) {
	s.errors = append(s.errors, fmt.Sprintf(format, args...))
}

func (s *spy) Fatalf(format string, args ...any) {
	s.fatals = append(s.fatals, fmt.Sprintf(format, args...))
}

func (s *spy) messages() string { return strings.Join(append(s.errors, s.fatals...), "\n") }

// inFolder runs a test in its own folder with the two variables set.
func inFolder(t *testing.T, mode, ci string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("PEX_GOLDEN", mode)
	t.Setenv("CI", ci)
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFileComparesBytes(t *testing.T) {
	for _, c := range []struct {
		name, file, got string
		want            []string // parts of the error message; none = success
	}{
		{"same", "a\n", "a\n", nil},
		{"both empty", "", "", nil},
		{"a line differs", "a\nb\nc\n", "a\nB\nc\n", []string{"-b", "+B", " a", "make golden"}},
		{"newline at the end", "a\n", "a", []string{"newline at its end"}},
		{"emptied", "a\n", "", []string{"-a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t, "", "")
			put(t, "testdata/x.txt", c.file)
			s := &spy{}
			goldentest.File(s, "x.txt", c.got)
			if (s.messages() != "") != (c.want != nil) {
				t.Fatalf("said %q, want parts %q", s.messages(), c.want)
			}
			for _, part := range c.want {
				if !strings.Contains(s.messages(), part) {
					t.Errorf("complaint lacks %q:\n%s", part, s.messages())
				}
			}
			if got := content(t, "testdata/x.txt"); got != c.file {
				t.Errorf("a comparison changed the file to %q", got)
			}
		})
	}
}

func TestFileThatIsMissingIsNamed(t *testing.T) {
	inFolder(t, "", "")
	s := &spy{}
	goldentest.File(s, "sub/new.txt", "text")
	if !strings.Contains(s.messages(), "does not exist") || !strings.Contains(s.messages(), "text") {
		t.Errorf("said %q", s.messages())
	}
}

func TestUpdateIsRefusedInCI(t *testing.T) {
	for _, c := range []struct {
		name, mode, ci string
		written        bool
		complaint      string
	}{
		{"asked for", "update", "", true, ""},
		{"in CI", "update", "true", false, "CI is set"},
		{"unknown word", "yes", "", false, "use update"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t, c.mode, c.ci)
			put(t, "testdata/old.txt", "old")
			s := &spy{}
			goldentest.File(s, "old.txt", "new")
			if got := content(t, "testdata/old.txt") == "new"; got != c.written {
				t.Errorf("written: %v, want %v", got, c.written)
			}
			if !strings.Contains(s.messages(), c.complaint) || (c.complaint == "") != (s.messages() == "") {
				t.Errorf("said %q, want %q", s.messages(), c.complaint)
			}
		})
	}
}

func TestUpdateCreatesFilesAndFolders(t *testing.T) {
	inFolder(t, "update", "")
	goldentest.File(t, "deep/er/x.txt", "text")
	if got := content(t, "testdata/deep/er/x.txt"); got != "text" {
		t.Errorf("got %q", got)
	}
}

const archive = "what the case is about\n-- in --\n1\n-- out --\n2\n"

func TestArchiveReturnsItsParts(t *testing.T) {
	inFolder(t, "", "")
	put(t, "x.txtar", archive)
	a := goldentest.Txtar(t, "x.txtar")
	if a.Comment() != "what the case is about\n" || a.Input(t, "in") != "1\n" || !a.Has("out") || a.Has("none") {
		t.Errorf("comment %q, input %q", a.Comment(), a.Input(t, "in"))
	}
	if diff := cmp.Diff([]string{"in", "out"}, a.Names()); diff != "" {
		t.Error(diff)
	}
	a.Extract(t, "below/here")
	if got := content(t, "below/here/out"); got != "2\n" {
		t.Errorf("extracted %q", got)
	}
}

func TestArchiveComparesAndNamesTheFile(t *testing.T) {
	inFolder(t, "", "")
	put(t, "x.txtar", archive)
	s := &spy{}
	a := goldentest.Txtar(t, "x.txtar")
	a.Want(s, "out", "2") // the archive adds the final newline
	if s.messages() != "" {
		t.Fatalf("said %q", s.messages())
	}
	a.Want(s, "out", "3\n")
	if !strings.Contains(s.messages(), "x.txtar out") || !strings.Contains(s.messages(), "+3") {
		t.Errorf("said %q", s.messages())
	}
}

func TestArchiveUpdateKeepsTheRest(t *testing.T) {
	inFolder(t, "update", "")
	put(t, "x.txtar", archive)
	a := goldentest.Txtar(t, "x.txtar")
	a.Want(t, "out", "3")
	a.Want(t, "more", "4\n")
	want := "what the case is about\n-- in --\n1\n-- out --\n3\n-- more --\n4\n"
	if diff := cmp.Diff(want, content(t, "x.txtar")); diff != "" {
		t.Error(diff)
	}
}

func TestArchiveErrorsNameTheFile(t *testing.T) {
	for _, c := range []struct {
		name, mode, text string
		use              func(goldentest.T, *goldentest.Archive)
		want             string
	}{
		{"input is missing", "", archive, func(t goldentest.T, a *goldentest.Archive) { a.Input(t, "none") }, "has no file -- none --"},
		{"file twice", "", "-- a --\n-- a --\n", nil, "duplicate file -- a --"},
		{"output that an archive cannot hold", "update", archive, func(t goldentest.T, a *goldentest.Archive) { a.Want(t, "out", "-- x --\n") }, "use goldentest.File"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t, c.mode, "")
			put(t, "x.txtar", c.text)
			s := &spy{}
			if a := goldentest.Txtar(s, "x.txtar"); a != nil && c.use != nil {
				c.use(s, a)
			}
			if !strings.Contains(s.messages(), c.want) {
				t.Errorf("said %q, want %q", s.messages(), c.want)
			}
			if got := content(t, "x.txtar"); got != c.text {
				t.Errorf("file became %q", got)
			}
		})
	}
}

func TestEachRunsEveryArchive(t *testing.T) {
	inFolder(t, "", "")
	put(t, "cases/a.txtar", archive)
	put(t, "cases/b.txtar", archive)
	var ran []string
	goldentest.Each(t, "cases/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		ran = append(ran, t.Name()+" "+a.Input(t, "in"))
	})
	want := []string{"TestEachRunsEveryArchive/a 1\n", "TestEachRunsEveryArchive/b 1\n"}
	if diff := cmp.Diff(want, ran); diff != "" {
		t.Error(diff)
	}
}
