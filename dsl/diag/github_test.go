package diag_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/diag"
)

func TestAnnotationsEscapeTheirText(t *testing.T) {
	cases := []struct {
		name string
		a    diag.Annotation
		want string
	}{
		{"all of it", diag.Annotation{Level: "error", File: "s.yaml", Line: 3, Column: 2, End: 9, Title: "PEX012", Message: "m"}, "::error file=s.yaml,line=3,col=2,endColumn=9,title=PEX012::m\n"},
		{"a line", diag.Annotation{Level: "warning", File: "s.yaml", Line: 3, Title: "t", Message: "m"}, "::warning file=s.yaml,line=3,title=t::m\n"},
		{"a file", diag.Annotation{Level: "warning", File: "s.yaml", Title: "t", Message: "m"}, "::warning file=s.yaml,title=t::m\n"},
		{"no file has no line", diag.Annotation{Level: "error", Line: 3, Title: "t", Message: "m"}, "::error title=t::m\n"},
		{"what ends a message", diag.Annotation{Level: "error", Message: "100%\r\n::error::b"}, "::error title=::100%25%0D%0A::error::b\n"},
		{"what ends a property", diag.Annotation{Level: "error", File: "a,b:c%\n", Title: "x::y,line=1"}, "::error file=a%2Cb%3Ac%25%0A,title=x%3A%3Ay%2Cline=1::\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.a.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestGitHubSeesErrorsFirst(t *testing.T) {
	l := diag.List{
		{File: "s.yaml", Line: 1, Column: 3, EndColumn: 8, Code: diag.Unused, Severity: diag.Warning, Message: "w\x1b[31m"},
		{File: "s.yaml", Line: 2, Column: 1, Code: diag.MissingKey, Severity: diag.Error, Message: "e", Advice: diag.Advice{Hint: "h"}},
		{File: "--set x", Line: 1, Column: 1, Code: "PEX999", Severity: diag.Error, Message: "f"},
	}
	got := l.GitHub(inSources)
	want := "::error file=s.yaml,line=2,col=1,title=PEX012%3A missing required key::e%0Ahint: h\n" +
		"::error title=PEX999::--set x: f\n" +
		"::warning file=s.yaml,line=1,col=3,endColumn=8,title=PEX074%3A unused definition::w␛[31m\n"
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if strings.Count(got, "\n") != len(l) {
		t.Errorf("%d diagnostics are not as many lines", len(l))
	}
}
