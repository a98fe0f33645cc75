package guard

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"

	"github.com/pexctl/pex/dsl/diag"
)

// Problem is a mistake in a source.
type Problem struct {
	Offset  int // in bytes
	Line    int // from 1
	Column  int // from 1, in characters
	Message string
	diag.Advice
	char int // in characters
}

// Error returns the problem in one line, with its position and hint.
func (p *Problem) Error() string {
	s := p.Message
	if p.Line > 1 || p.Column > 1 {
		s = "line " + strconv.Itoa(p.Line) + ", column " + strconv.Itoa(p.Column) + ": " + s
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// problemAt returns a problem at a character of the source.
func problemAt(src string, char int, message, hint string) *Problem {
	p := &Problem{Line: 1, Column: 1, Message: message, Advice: diag.Advice{Hint: hint}, char: char}
	for ; char > 0 && p.Offset < len(src); char-- {
		r, n := utf8.DecodeRuneInString(src[p.Offset:])
		if p.Offset += n; r == '\n' {
			p.Line, p.Column = p.Line+1, 1
		} else {
			p.Column++
		}
	}
	return p
}

// problemOf converts an error of the library to a problem.
func problemOf(src string, err error) *Problem {
	var fe *file.Error
	if !errors.As(err, &fe) {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return problemAt(src, 0, message, "")
	}
	return problemAt(src, fe.From, fe.Message, "")
}
