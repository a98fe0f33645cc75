package scaffold

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
)

// Interview asks for answers at a terminal, one line each.
type Interview struct {
	Line func() (string, error) // reads a line, without its line break
	Out  io.Writer              // where questions are written
	Pen  tty.Pen

	// Lookup, if not nil, is called before the model is asked for. It records the models of the user's own server.
	Lookup func(*Answers)
}

// question is one question of the interview.
type question struct {
	Flag   string // name of the flag of pexctl init that answers it
	Text   string
	about  func(Answers, tty.Pen) []string // lines printed before the prompt: the choices
	preset func(Answers) string            // the default, taken by Enter
	set    func(*Answers, string)
	check  func(Answers) error
}

// questions are asked in this order.
var questions = []question{
	{
		Flag: "name", Text: "Name of the agent?", preset: func(a Answers) string { return a.Name },
		set: func(a *Answers, s string) { a.Name = s }, check: Answers.checkName,
	},
	{
		Flag: "description", Text: "What should it do?", preset: func(a Answers) string { return a.Description },
		set: func(a *Answers, s string) { a.Description = s }, check: Answers.checkDescription,
	},
	{
		Flag: "provider", Text: "Which model provider? Enter a name or a number.", about: listProviders,
		preset: func(a Answers) string { return a.Provider }, set: setProvider, check: Answers.checkProvider,
	},
	{
		Flag: "model", Text: "Which model?", about: listServed, preset: func(a Answers) string { return a.Model },
		set: setModel, check: Answers.checkModel,
	},
	{
		Flag: "tools", Text: "Which tools? Enter names or numbers.", about: listTools,
		preset: func(a Answers) string { return strings.Join(a.Tools, ", ") }, set: setTools, check: Answers.checkTools,
	},
}

// Flags returns the flag names of all questions, in the order they are asked.
func Flags() []string {
	var out []string
	for _, q := range questions {
		out = append(out, q.Flag)
	}
	return out
}

// Set sets the answer of a flag. An invalid answer is an error and changes nothing. Setting the provider also sets the model
// to the one that the provider suggests.
func (a *Answers) Set(flag, text string) error {
	for _, q := range questions {
		if q.Flag != flag {
			continue
		}
		next := *a
		q.set(&next, strings.TrimSpace(text))
		if err := q.check(next); err != nil {
			return err
		}
		*a = next
		return nil
	}
	return unknown("answer", flag, Flags())
}

// Ask asks the questions whose flags are not in known and returns a with the answers. An empty line selects the default,
// which is shown in brackets. After an invalid answer it prints the reason and asks again. Errors are those of reading a line.
func (i Interview) Ask(a Answers, known []string) (Answers, error) {
	for _, q := range questions {
		if slices.Contains(known, q.Flag) {
			continue
		}
		if q.Flag == "model" && i.Lookup != nil {
			i.Lookup(&a)
		}
		next, err := i.ask(q, a)
		if err != nil {
			return a, err
		}
		a = next
	}
	return a, nil
}

func (i Interview) ask(q question, a Answers) (Answers, error) {
	fmt.Fprintln(i.Out, i.Pen.Ink(tty.Bold, q.Text))
	if q.about != nil {
		for _, line := range q.about(a, i.Pen) {
			fmt.Fprintln(i.Out, line)
		}
	}
	for {
		fmt.Fprintf(i.Out, "%s > ", i.Pen.Ink(tty.Dim, "["+tty.Flat(q.preset(a))+"]"))
		line, err := i.Line()
		if err != nil {
			return a, err
		}
		next := a
		if line = strings.TrimSpace(line); line != "" {
			q.set(&next, line)
		}
		if err = q.check(next); err == nil {
			fmt.Fprintln(i.Out)
			return next, nil
		}
		fmt.Fprintln(i.Out, "  "+i.Pen.Ink(tty.Yellow, tty.Safe(err.Error())))
	}
}

func setModel(a *Answers, s string) {
	var names []string
	for _, m := range a.Served {
		names = append(names, m.Name)
	}
	a.Model = numbered(s, names)
}

// listServed lists the models of the user's own server.
func listServed(a Answers, pen tty.Pen) []string {
	if a.Server == "" {
		return nil
	}
	if len(a.Served) == 0 {
		return []string{pen.Ink(tty.Yellow, "  "+tty.Safe(a.Missing()))}
	}
	var rows [][2]string
	for _, m := range a.Served {
		about := ""
		if m.NoTools {
			about = "no tool calls"
		}
		rows = append(rows, [2]string{tty.Flat(m.Name), about})
	}
	return append(list(rows, pen), pen.Ink(tty.Dim, "  (models of "+tty.Safe(a.Server)+")"))
}

// setProvider sets the provider and the model that it suggests.
func setProvider(a *Answers, s string) {
	a.Provider = numbered(s, ProviderNames())
	p, _ := providerOf(a.Provider)
	a.Model = p.Model
}

func setTools(a *Answers, s string) {
	a.Tools = nil
	for _, word := range Words(s) {
		a.Tools = append(a.Tools, numbered(word, ToolNames()))
	}
}

// numbered returns the n-th name if word is the number n, or else word.
func numbered(word string, names []string) string {
	if n, err := strconv.Atoi(word); err == nil && 1 <= n && n <= len(names) {
		return names[n-1]
	}
	return word
}

func listProviders(a Answers, pen tty.Pen) []string {
	var rows [][2]string
	for _, p := range Providers() {
		about := p.About
		if p.Name == a.Provider && a.Ready != "" {
			about += ", " + a.Ready
		}
		rows = append(rows, [2]string{p.Name, about})
	}
	return list(rows, pen)
}

func listTools(_ Answers, pen tty.Pen) []string {
	var rows [][2]string
	for _, t := range Tools() {
		rows = append(rows, [2]string{t.Name, t.About})
	}
	return append(list(rows, pen), pen.Ink(tty.Dim, "  (all tools: pexctl list tool)"))
}

// list formats rows of a name and its description as a numbered list.
func list(rows [][2]string, pen tty.Pen) []string {
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0]))
	}
	var out []string
	for n, r := range rows {
		out = append(out, strings.TrimRight(fmt.Sprintf("  %d  %-*s  %s", n+1, wide, r[0], pen.Ink(tty.Dim, r[1])), " "))
	}
	return out
}
