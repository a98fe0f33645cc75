package analysis

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

// What a shell understands and a program takes for an argument: words that begin
// another program, and those that a file name follows.
var (
	piping      = []string{"|", "||", "&&"}
	redirecting = []string{">", ">>", "<", "2>"}
	joining     = "2>&1"
)

// Programs that know some of these words themselves: everywhere, behind one of
// their options, or as what they look for.
var (
	calculating = []string{"expr", "test", "[", "awk", "dc", "bc", "tr"}
	separating  = []string{"cut", "sort", "column", "paste", "join", "mlr", "xsv", "sqlite3", "psql"}
	searching   = []string{"grep", "egrep", "fgrep", "rg", "ag", "ack"}
)

// shell: a command is started as it is written, without a shell in between.
func (w writing) shell() {
	for _, t := range w.Tools {
		argv := t.Entry.Value.Get("argv").Items()
		if t.Spec.Type != "command" {
			continue
		}
		if i := ofShell(argv); i > 0 && w.InSpecFile(argv[i].Place()) {
			w.Warn(diag.NoEffect, argv[i].Place(), "%s has no effect: no shell is used, so the program receives it as an argument", argv[i].Text()).
				Hint = "start a shell: [sh, -c, '...'], or move the command to a script"
		}
	}
}

// ofShell is the first argument that is meant for a shell; 0 = none is.
func ofShell(argv []dsl.Value) int {
	words := make([]string, len(argv))
	for i, v := range argv {
		words[i] = v.Text()
	}
	if len(words) == 0 || slices.Contains(calculating, path.Base(words[0])) {
		return 0
	}
	for i := range words {
		if i > 0 && argv[i].IsText() && forShell(words, i) {
			return i
		}
	}
	return 0
}

// A program that can follow a pipe, and a file that can follow a redirection, by their
// looks: neither is an option, a sign or a number.
var (
	programLike = regexp.MustCompile(`^(?:[A-Za-z_]|\.{0,2}/)[\w./+-]*$`)
	fileLike    = regexp.MustCompile(`^[A-Za-z_./~$&]`)
)

// forShell says whether a word is meant for a shell, by what is around it.
func forShell(words []string, i int) bool {
	program, option := path.Base(words[0]), strings.HasPrefix(words[i-1], "-")
	switch {
	case strings.HasPrefix(words[i-1], "--"), option && slices.Contains(separating, program):
		return false // it is the option's
	case slices.Contains(searching, program) && !slices.ContainsFunc(words[1:i], func(s string) bool { return !strings.HasPrefix(s, "-") }):
		return false // it is looked for
	case words[i] == joining:
		return true
	case i == len(words)-1:
		return false
	case slices.Contains(piping, words[i]):
		return programLike.MatchString(words[i+1])
	}
	return slices.Contains(redirecting, words[i]) && fileLike.MatchString(words[i+1])
}
