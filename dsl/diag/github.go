package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Annotation marks a place of a file in a pull request: a workflow command in the
// log of a GitHub Actions step.
type Annotation struct {
	Level   string // error, warning or notice
	File    string // relative to the root of the checkout; "" if none
	Line    int    // 0 for the file as a whole
	Column  int    // 0 for the line as a whole
	End     int    // the column after the last one; 0 if unknown
	Title   string
	Message string // may have several lines
}

// String returns the workflow command as one line. Escaping keeps texts from
// ending the command or starting another one. The caller must make the texts safe
// to display.
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

// A line break ends the text of a command; a comma or a colon also ends a
// property.
var (
	githubMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHub returns a list as annotations, errors first: GitHub displays ten of each
// level per step, and all of them in the log. file returns the path of a file
// relative to the root of the checkout, or "" if it is not a file.
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
	a := Annotation{Level: string(d.Severity), File: escapeControls(file(d.File)), Title: string(d.Code), Message: escapeControls(d.Message)}
	if m, ok := Explain(string(d.Code)); ok {
		a.Title += ": " + m.Title
	}
	if d.Hint != "" {
		a.Message += "\nhint: " + escapeControls(d.Hint)
	}
	if a.File != "" {
		a.Line, a.Column, a.End = d.Line, d.Column, d.EndColumn
	} else if d.File != "" {
		a.Message = escapeControls(d.File) + ": " + a.Message
	}
	return a
}

// usedCodes returns the codes of lists, sorted and without duplicates.
func usedCodes(lists ...List) []Code {
	var out []Code
	for _, l := range lists {
		for _, d := range l {
			out = append(out, d.Code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
