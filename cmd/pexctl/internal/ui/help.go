package ui

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// The width of help is that of the terminal, but at most widestHelp. Without a
// terminal it is DefaultWidth.
const (
	DefaultWidth = 80
	widestHelp   = 100
)

// helpWidth returns the width of help that is written to w.
func helpWidth(w io.Writer) int {
	if _, ok := Terminal(w); !ok {
		return DefaultWidth
	}
	return min(Columns(w), widestHelp)
}

// AppHelp returns what pexctl prints without a command, in lines of width
// columns.
func AppHelp(app *cli.App, width int) string {
	var b strings.Builder
	paragraph(&b, app.Usage, width)
	b.WriteString("\nUsage: pexctl COMMAND [arguments] [flags]\n\n")
	examples(&b, []string{
		"pexctl new hello --run               # Try a sample; no API key needed",
		"pexctl init my-agent                 # Create your own agent",
		`pexctl run my-agent "your question"  # Run it (a folder means its spec.yaml)`,
		"pexctl vet my-agent                  # Check it without running it",
		"pexctl test my-agent                 # Run its tests, offline",
	}, width)
	commandGroups(&b, app.Commands, width)
	b.WriteString("\nGlobal flags:\n")
	columns(&b, append([][2]string{flagRow(colorFlag()), {"    --version", "Print the version"}}, helpRow), width)
	b.WriteString("\nEnvironment:\n")
	columns(&b, variables, width)
	b.WriteString("\nExit codes:\n")
	columns(&b, exitCodes, width)
	b.WriteString("\n")
	paragraph(&b, `Run "pexctl COMMAND --help" for the flags and examples of a command.`, width)
	return b.String()
}

// exitCodes are the rows of the exit codes in the help of pexctl.
var exitCodes = [][2]string{
	{"0", "Success"},
	{"1", "The run failed, a test or gate failed, or differences were found"},
	{"2", "Invalid usage, spec, test or suite"},
	{"3", "A provider, the store or a tool server failed"},
	{"4", "A limit stopped the run, or the evaluation is inconclusive"},
	{"5", "The run is waiting for an answer"},
	{"130", "Suspended by Ctrl-C; resume with pexctl resume"},
}

// commandGroups lists commands under the headings of their categories, in order
// of first appearance.
func commandGroups(b *strings.Builder, commands []*cli.Command, width int) {
	var headings []string
	groups := map[string][][2]string{}
	for _, c := range Visible(commands) {
		if groups[c.Category] == nil {
			headings = append(headings, c.Category)
		}
		groups[c.Category] = append(groups[c.Category], [2]string{c.Name, c.Usage})
	}
	for _, heading := range headings {
		fmt.Fprintf(b, "\n%s:\n", heading)
		alignedColumns(b, groups[heading], len("completion"), width)
	}
}

// CommandHelp returns the --help text of a command in lines of width columns. The
// reference uses the same text.
func CommandHelp(c *cli.Command, width int) string {
	var b strings.Builder
	takes := c.ArgsUsage + " [flags]"
	if IsGroup(c) {
		takes = "COMMAND [arguments] [flags]"
	}
	paragraph(&b, c.Usage, width)
	fmt.Fprintf(&b, "\nUsage: pexctl %s %s\n", c.HelpName, strings.TrimSpace(takes))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "Aliases: %s\n", strings.Join(c.Aliases, ", "))
	}
	if c.Description != "" {
		b.WriteString("\n")
		description(&b, c.Description, width)
	}
	if len(c.Subcommands) > 0 {
		b.WriteString("\nCommands:\n")
		var rows [][2]string
		for _, sub := range Visible(c.Subcommands) {
			rows = append(rows, [2]string{sub.Name, sub.Usage})
		}
		columns(&b, rows, width)
	}
	flagGroups(&b, c, width)
	if len(c.Subcommands) > 0 {
		b.WriteString("\n")
		paragraph(&b, fmt.Sprintf("Run \"pexctl %s COMMAND --help\" for the flags and examples of a command.", c.HelpName), width)
	}
	return b.String()
}

// Help formats the description of a command: paragraphs, then examples, one
// command per line with an optional comment after " # ". Lines of a paragraph are
// wrapped; lines that start with two spaces are kept, or aligned if all have two
// columns.
func Help(text string, lines ...string) string {
	if len(lines) > 0 {
		text += "\n\n" + examplesHeading + "\n  " + strings.Join(lines, "\n  ")
	}
	return strings.TrimPrefix(text, "\n\n")
}

// EscapeTemplate returns a template that prints a text.
func EscapeTemplate(s string) string { return strings.ReplaceAll(s, "{{", `{{"{{"}}`) }
