package starter

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
)

// Interview asks a person for answers, one line each.
type Interview struct {
	Line func() (string, error) // reads a line, without its end
	Out  io.Writer              // where questions go
	Pen  tty.Pen
}

// question is one of the interview.
type question struct {
	Flag   string // of pexctl init
	Text   string
	about  func(Answers, tty.Pen) []string // lines before it: what there is to choose from
	stands func(Answers) string            // the answer that Enter gives
	take   func(*Answers, string)
	check  func(Answers) error
}

// questions are all of them, in the order they are asked.
var questions = []question{
	{
		Flag: "name", Text: "What is the agent called?", stands: func(a Answers) string { return a.Name },
		take: func(a *Answers, s string) { a.Name = s }, check: Answers.checkName,
	},
	{
		Flag: "description", Text: "What is it for?", stands: func(a Answers) string { return a.Description },
		take: func(a *Answers, s string) { a.Description = s }, check: Answers.checkDescription,
	},
	{
		Flag: "provider", Text: "Whose models will it use? A name or a number.", about: listProviders,
		stands: func(a Answers) string { return a.Provider }, take: takeProvider, check: Answers.checkProvider,
	},
	{
		Flag: "model", Text: "Which model?", stands: func(a Answers) string { return a.Model },
		take: func(a *Answers, s string) { a.Model = s }, check: Answers.checkModel,
	},
	{
		Flag: "tools", Text: "Which tools may it use? Names or numbers.", about: listTools,
		stands: func(a Answers) string { return strings.Join(a.Tools, ", ") }, take: takeTools, check: Answers.checkTools,
	},
}

// Flags are the names of the answers, in the order they are asked for.
func Flags() []string {
	var out []string
	for _, q := range questions {
		out = append(out, q.Flag)
	}
	return out
}

// Take takes over the answer of a flag; what cannot be taken is an error, and
// leaves the answers as they are. A provider brings the model that it suggests.
func (a *Answers) Take(flag, text string) error {
	for _, q := range questions {
		if q.Flag != flag {
			continue
		}
		next := *a
		q.take(&next, strings.TrimSpace(text))
		if err := q.check(next); err != nil {
			return err
		}
		*a = next
		return nil
	}
	return unknown("answer", flag, Flags())
}

// Ask asks for the answers that are not known yet; known are names of Flags.
// An answer that cannot be taken is asked for again, with the reason; an empty
// line takes what stands in brackets. An error is one of reading.
func (i Interview) Ask(a Answers, known []string) (Answers, error) {
	for _, q := range questions {
		if slices.Contains(known, q.Flag) {
			continue
		}
		next, err := i.one(q, a)
		if err != nil {
			return a, err
		}
		a = next
	}
	return a, nil
}

func (i Interview) one(q question, a Answers) (Answers, error) {
	fmt.Fprintln(i.Out, i.Pen.Ink(tty.Bold, q.Text))
	if q.about != nil {
		for _, line := range q.about(a, i.Pen) {
			fmt.Fprintln(i.Out, line)
		}
	}
	for {
		fmt.Fprintf(i.Out, "%s > ", i.Pen.Ink(tty.Dim, "["+tty.Flat(q.stands(a))+"]"))
		line, err := i.Line()
		if err != nil {
			return a, err
		}
		next := a
		if line = strings.TrimSpace(line); line != "" {
			q.take(&next, line)
		}
		if err = q.check(next); err == nil {
			fmt.Fprintln(i.Out)
			return next, nil
		}
		fmt.Fprintln(i.Out, "  "+i.Pen.Ink(tty.Yellow, tty.Safe(err.Error())))
	}
}

// takeProvider takes a provider, and with it the model that it suggests.
func takeProvider(a *Answers, s string) {
	a.Provider = numbered(s, ProviderNames())
	p, _ := providerOf(a.Provider)
	a.Model = p.Model
}

func takeTools(a *Answers, s string) {
	a.Tools = nil
	for _, word := range Words(s) {
		a.Tools = append(a.Tools, numbered(word, ToolNames()))
	}
}

// numbered is the name that a number of a list stands for, or the word itself.
func numbered(word string, names []string) string {
	if n, err := strconv.Atoi(word); err == nil && 1 <= n && n <= len(names) {
		return names[n-1]
	}
	return word
}

func listProviders(_ Answers, pen tty.Pen) []string {
	var rows [][2]string
	for _, p := range Providers() {
		rows = append(rows, [2]string{p.Name, p.About})
	}
	return list(rows, pen)
}

func listTools(_ Answers, pen tty.Pen) []string {
	var rows [][2]string
	for _, t := range Tools() {
		rows = append(rows, [2]string{t.Name, t.About})
	}
	return append(list(rows, pen), pen.Ink(tty.Dim, "  (pexctl list tool shows all that a spec can name)"))
}

// list numbers rows of a name and what it is.
func list(rows [][2]string, pen tty.Pen) []string {
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0]))
	}
	var out []string
	for n, r := range rows {
		out = append(out, fmt.Sprintf("  %d  %-*s  %s", n+1, wide, r[0], pen.Ink(tty.Dim, r[1])))
	}
	return out
}
