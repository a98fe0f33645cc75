package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/text"
)

// Arguments that a shell interprets and a program does not: operators that start
// another program, and redirections, which are followed by a file name.
var (
	piping      = []string{"|", "||", "&&"}
	redirecting = []string{">", ">>", "<", "2>"}
	joining     = "2>&1"
)

// Programs that accept some of these words themselves: anywhere, after one of
// their options, or as a pattern.
var (
	calculating = []string{"expr", "test", "[", "awk", "dc", "bc", "tr"}
	separating  = []string{"cut", "sort", "column", "paste", "join", "mlr", "xsv", "sqlite3", "psql"}
	searching   = []string{"grep", "egrep", "fgrep", "rg", "ag", "ack"}
)

// shell: a command is started without a shell.
func (w effectChecker) shell() {
	for _, t := range w.Tools {
		argv := t.Entry.Value.Get("argv").Items()
		if t.Spec.Type != "command" {
			continue
		}
		if i := shellArgument(argv); i > 0 && w.InSpecFile(argv[i].Place()) {
			w.Warn(diag.NoEffect, argv[i].Place(), "%s has no effect: no shell is used, so the program receives it as an argument", argv[i].Text()).
				Hint = "start a shell: [sh, -c, '...'], or move the command to a script"
		}
	}
}

// shellArgument returns the index of the first argument that only a shell interprets,
// or 0 if there is none.
func shellArgument(argv []dsl.Value) int {
	words := make([]string, len(argv))
	for i, v := range argv {
		words[i] = v.Text()
	}
	if len(words) == 0 || slices.Contains(calculating, path.Base(words[0])) {
		return 0
	}
	for i := range words {
		if i > 0 && argv[i].IsText() && isShellWord(words, i) {
			return i
		}
	}
	return 0
}

// What can follow a pipe (a program) and a redirection (a file): neither looks
// like an option, an operator or a number.
var (
	programLike = text.Regexp(`^(?:[A-Za-z_]|\.{0,2}/)[\w./+-]*$`)
	fileLike    = text.Regexp(`^[A-Za-z_./~$&]`)
)

// isShellWord reports whether a word is intended for a shell, judged by the words
// around it.
func isShellWord(words []string, i int) bool {
	program, option := path.Base(words[0]), strings.HasPrefix(words[i-1], "-")
	switch {
	case strings.HasPrefix(words[i-1], "--"), option && slices.Contains(separating, program):
		return false // an argument of the option
	case slices.Contains(searching, program) && !slices.ContainsFunc(words[1:i], func(s string) bool { return !strings.HasPrefix(s, "-") }):
		return false // a search pattern
	case words[i] == joining:
		return true
	case i == len(words)-1:
		return false
	case slices.Contains(piping, words[i]):
		return programLike().MatchString(words[i+1])
	}
	return slices.Contains(redirecting, words[i]) && fileLike().MatchString(words[i+1])
}
