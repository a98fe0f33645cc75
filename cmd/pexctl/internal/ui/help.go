package ui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// AppHelp is what pexctl shows without a command.
func AppHelp(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pexctl: %s\n\nUsage: pexctl COMMAND [arguments and flags]\n\n", app.Usage)
	b.WriteString(Examples(
		"pexctl new hello --run                     # see a sample at work: a plan, its steps, an answer; no key needed",
		"pexctl init my-agent                       # begin one of your own",
		`pexctl run my-agent "your question"        # ask it something: a folder means its spec.yaml`,
		"pexctl vet spec.yaml                       # find what is wrong with one",
		"pexctl render spec.yaml --node planner     # see a prompt, call nobody",
		"pexctl graph spec.yaml                     # draw what it compiles to",
	))
	b.WriteString("\n\nCommands:\n")
	commandRows(&b, app.Commands)
	b.WriteString("\npexctl COMMAND --help says more about one.\n\nEnvironment:\n")
	columns(&b, variables)
	b.WriteString("\nExit codes: 0 success, 1 a negative result, 2 usage or spec invalid, 3 provider, store or tool server,\n" +
		"4 stopped by a limit, 5 waiting for a person, 130 suspended.\n")
	return b.String()
}

// CommandHelp is what a command shows for --help; the reference has the same.
func CommandHelp(c *cli.Command) string {
	var b strings.Builder
	takes := c.ArgsUsage + " [flags]"
	if IsGroup(c) {
		takes = "COMMAND [arguments and flags]"
	}
	fmt.Fprintf(&b, "pexctl %s: %s\n\nUsage: pexctl %[1]s %[3]s\n", c.HelpName, c.Usage, strings.TrimSpace(takes))
	if c.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Description)
	}
	if IsGroup(c) {
		b.WriteString("\nCommands:\n")
		commandRows(&b, c.Subcommands)
		fmt.Fprintf(&b, "\npexctl %s COMMAND --help says more about one.\n", c.HelpName)
		return b.String()
	}
	b.WriteString("\nFlags:\n")
	flagRows(&b, c.Flags)
	if len(c.Subcommands) > 0 {
		fmt.Fprintf(&b, "\nCommands (pexctl %s COMMAND --help says more about one):\n", c.HelpName)
		commandRows(&b, c.Subcommands)
	}
	return b.String()
}

// commandRows lists commands, one a line.
func commandRows(b *strings.Builder, commands []*cli.Command) {
	for _, c := range Visible(commands) {
		fmt.Fprintf(b, "  %-12s%s\n", c.Name, c.Usage)
	}
}

// flagRows lists flags, one a line, in two columns.
func flagRows(b *strings.Builder, flags []cli.Flag) {
	var rows [][2]string
	for _, f := range flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && !slices.Contains(f.Names(), "help") {
			rows = append(rows, flagRow(f, d.GetUsage()))
		}
	}
	rows = append(rows, [2]string{"-h, --help", "show this"})
	columns(b, rows)
}

// helpWidth is how long a line of two columns gets before its text goes on below.
const helpWidth = 110

// columns writes rows of two columns.
func columns(b *strings.Builder, rows [][2]string) {
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0]))
	}
	for _, r := range rows {
		for i, line := range wrapped(r[1], helpWidth-wide-4) {
			if i > 0 {
				r[0] = ""
			}
			fmt.Fprintf(b, "  %-*s  %s\n", wide, r[0], line)
		}
	}
}

// wrapped breaks a text at blanks into lines of at most so many characters; a
// longer word stays whole.
func wrapped(text string, room int) (lines []string) {
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room {
			lines, line = append(lines, line), word
			continue
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// flagRow is a flag with its letter and the name of its value, and what it does.
func flagRow(f cli.Flag, about string) [2]string {
	name, letter := "    --"+f.Names()[0], ""
	if len(f.Names()) > 1 {
		letter = f.Names()[1]
		name = "-" + letter + ", --" + f.Names()[0]
	}
	if parts := strings.SplitN(about, "`", 3); len(parts) == 3 {
		name += " " + parts[1]
		about = parts[0] + parts[1] + parts[2]
	}
	if _, many := f.(*cli.StringSliceFlag); many {
		about += "; may be repeated"
	}
	return [2]string{name, about}
}

// Examples is the description of a command that consists of examples.
func Examples(lines ...string) string {
	return "Examples:\n  " + strings.Join(lines, "\n  ")
}

// EscapeTemplate makes a text a template that prints it.
func EscapeTemplate(s string) string { return strings.ReplaceAll(s, "{{", `{{"{{"}}`) }
