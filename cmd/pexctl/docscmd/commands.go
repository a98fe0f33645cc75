package docscmd

import (
	"bytes"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// commandPages returns commands/README.md and a page for each command with its
// subcommands.
func commandPages(app *cli.App) []page {
	var index bytes.Buffer
	fmt.Fprintf(&index, "%s# Commands\n\n```\n%s```\n\n| command | |\n| --- | --- |\n", generatedMark, ui.AppHelp(app, ui.DefaultWidth))
	pages := []page{{name: "commands/README.md", title: "Commands and their flags"}}
	for _, c := range ui.Visible(app.Commands) {
		fmt.Fprintf(&index, "| [`pexctl %s`](%s.md) | %s |\n", c.HelpName, c.Name, c.Usage)
		var b bytes.Buffer
		fmt.Fprintf(&b, "%s# pexctl %s\n\n```\n%s```\n", generatedMark, c.HelpName, ui.CommandHelp(c, ui.DefaultWidth))
		subcommands(&b, c.Subcommands)
		pages = append(pages, page{name: "commands/" + c.Name + ".md", text: b.Bytes()})
	}
	pages[0].text = index.Bytes()
	return pages
}

// subcommands writes the help of commands, recursively.
func subcommands(b *bytes.Buffer, commands []*cli.Command) {
	for _, c := range ui.Visible(commands) {
		fmt.Fprintf(b, "\n## pexctl %s\n\n```\n%s```\n", c.HelpName, ui.CommandHelp(c, ui.DefaultWidth))
		subcommands(b, c.Subcommands)
	}
}
