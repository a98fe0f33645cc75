package failpoint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/failpoint"
)

// declared returns the names of the constants of type Point.
func declared(t *testing.T) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "point.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			out = append(out, strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`))
		}
	}
	return out
}

func TestEveryPointIsListedOnce(t *testing.T) {
	var listed []string
	for _, p := range failpoint.Points {
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`).MatchString(string(p)) {
			t.Errorf("%q is not a valid name", p)
		}
		listed = append(listed, string(p))
	}
	if want := declared(t); len(want) == 0 || !slices.Equal(listed, want) {
		t.Errorf("Points are %q, the constants are %q", listed, want)
	}
}

func TestNormalBuildHasNoFailpoints(t *testing.T) {
	if failpoint.On {
		t.Skip("this is a build with the tag faults")
	}
	t.Setenv("PEX_FAILPOINT", string(failpoint.Points[0]))
	failpoint.At(failpoint.Points[0]) // kills the process if failpoints are active
}
