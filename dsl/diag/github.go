package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Annotation marks a place of a file for who looks at a pull request: a command
// in the log of a step of GitHub Actions.
type Annotation struct {
	Level   string // error, warning or notice
	File    string // from the root of what was checked out; "" = none
	Line    int    // 0 = the file as a whole
	Column  int    // 0 = the line as a whole
	End     int    // the column after the last one; 0 = not known
	Title   string
	Message string // may have several lines
}

// String is the command on a line of its own. No text can end it, or begin
// another one; making the texts fit to be shown is the caller's.
func (a Annotation) String() string {
	var properties []string
	add := func(name, value string) { properties = append(properties, name+"="+githubProperty.Replace(value)) }
	if a.File != "" {
		add("file", a.File)
		for _, n := range []struct {
			name  string
			value int
		}{{"line", a.Line}, {"col", a.Column}, {"endColumn", a.End}} {
			if n.value == 0 {
				break
			}
			add(n.name, fmt.Sprint(n.value))
		}
	}
	add("title", a.Title)
	return fmt.Sprintf("::%s %s::%s\n", a.Level, strings.Join(properties, ","), githubMessage.Replace(a.Message))
}

// Texts of commands end at a line, properties at a comma or a colon as well.
var (
	githubMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHub is a list as annotations, the errors first: GitHub shows ten of a kind
// of each step, and has all of them in the log. file gives the path of a file
// from the root of what was checked out; "" = it is no file.
func (l List) GitHub(file func(string) string) string {
	var b strings.Builder
	for _, level := range []Severity{Error, Warning} {
		for _, d := range l {
			if d.Severity == level {
				b.WriteString(d.annotation(file).String())
			}
		}
	}
	return b.String()
}

func (d Diagnostic) annotation(file func(string) string) Annotation {
	a := Annotation{Level: string(d.Severity), File: plain(file(d.File)), Title: string(d.Code), Message: plain(d.Message)}
	if m, ok := Explain(string(d.Code)); ok {
		a.Title += ": " + m.Title
	}
	if d.Hint != "" {
		a.Message += "\nhint: " + plain(d.Hint)
	}
	if a.File != "" {
		a.Line, a.Column, a.End = d.Line, d.Column, d.EndColumn
	} else if d.File != "" {
		a.Message = plain(d.File) + ": " + a.Message
	}
	return a
}

// used lists the codes of lists, each once and sorted.
func used(lists ...List) []Code {
	var out []Code
	for _, l := range lists {
		for _, d := range l {
			out = append(out, d.Code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
