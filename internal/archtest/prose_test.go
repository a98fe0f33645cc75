package archtest_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/archtest"
)

// oddPhrases are phrases that readers stumble over, with what to write instead. The list is an aid for reviewers, not a
// definition of good English: add a phrase when it comes up twice.
var oddPhrases = []struct {
	phrase *regexp.Regexp
	use    string
}{
	{regexp.MustCompile(`(?i)\bstands?\b(?: in| twice| alone| beside| behind| here| there)`), "is, is set in, appears"},
	{regexp.MustCompile(`(?i)\b(?:is|are|was|were|be) told\b`), "receives, is sent, or name who reports it"},
	{regexp.MustCompile(`(?i)\bnobody\b`), "no one, or name the actor"},
	{regexp.MustCompile(`(?i)\bmend(?:s|ed|ing)?\b`), "repair, fix"},
	{regexp.MustCompile(`(?i)\bgo(?:es)? on (?:with|behind|from|as)\b`), "continue, resume"},
	{regexp.MustCompile(`(?i)\b(?:is|are|was|were) heard\b`), "received, seen"},
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "the caller, the user, whichever component"},
	{regexp.MustCompile(`(?i)\bwhat (?:came|comes|becomes|became) of\b`), "the outcome of, what happens to"},
	{regexp.MustCompile(`(?i)\bcom(?:es?|ing) to (?:nothing|an end|its end|the same end)\b`), "fails, ends, ends the same way"},
	{regexp.MustCompile(`(?i)\bonce more\b`), "again"},
	{regexp.MustCompile(`(?i)\bbeyond (?:the|its) bounds\b`), "too large, out of range"},
	{regexp.MustCompile(`(?i)\bmay say no\b`), "can deny"},
	{regexp.MustCompile(`(?i)\bin (?:its|their) hands?\b`), "name the property"},
	{regexp.MustCompile(`(?i)\bas it stood\b`), "unchanged, as recorded"},
}

// oddAllowed is how many odd phrases each kind of text still has. A number here only ever becomes smaller.
var oddAllowed = map[string]int{"messages": 0, "comments": 3, "pages": 0}

func TestTextsUsePlainWords(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	root := filepath.Join("..", "..")
	found := map[string][]string{}
	look := func(kind, place, text string) {
		for i, line := range strings.Split(text, "\n") {
			for _, odd := range oddPhrases {
				if m := odd.phrase.FindString(line); m != "" {
					found[kind] = append(found[kind], fmt.Sprintf("%s+%d: %q: write %s", place, i, m, odd.use))
				}
			}
		}
	}
	m, err := archtest.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, c := range f.AST.Comments {
				look("comments", m.Place(f, c), c.Text())
			}
			ast.Inspect(f.AST, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") { // one word is a name, not a text
					look("messages", m.Place(f, lit), lit.Value)
				}
				return true
			})
		}
	}
	for _, folder := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "specs"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil || d.IsDir() || filepath.Ext(path) != ".md" || strings.Contains(path, "adr") {
				return err
			}
			text, err := os.ReadFile(path)
			look("pages", strings.TrimPrefix(path, root+string(filepath.Separator)), string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for kind, allowed := range oddAllowed {
		t.Logf("%s: %d odd phrases, %d allowed", kind, len(found[kind]), allowed)
		if len(found[kind]) > allowed {
			t.Errorf("%d odd phrases in %s, %d are allowed:\n%s", len(found[kind]), kind, allowed, strings.Join(found[kind], "\n"))
		}
	}
}
