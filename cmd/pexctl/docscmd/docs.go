package docscmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
)

// Command is "pexctl docs".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "docs", Usage: "write the reference pages", ArgsUsage: "DIR [SPEC...]", Hidden: true,
		Description: ui.Examples("pexctl docs docs/reference specs/*/"),
		Action:      env.Action(docs),
	}
}

// page is one file of the reference.
type page struct {
	name  string // with slashes, below the reference's folder
	title string // for the index; "" = not in it
	text  []byte
}

// docs writes the reference: all of it is made of what the program itself
// goes by, so that it cannot say otherwise.
func docs(c *ui.Call) error {
	if len(c.Args) == 0 {
		return failure.Usagef("no folder given: pexctl docs DIR [SPEC...]")
	}
	pages, err := reference(c)
	if err != nil {
		return err
	}
	pages = append(pages, index(pages))
	for _, p := range pages {
		path := filepath.Join(c.Arg(0), filepath.FromSlash(p.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return failure.Infra(err)
		}
		if err := os.WriteFile(path, p.text, 0o644); err != nil {
			return failure.Infra(err)
		}
	}
	return nil
}

func reference(c *ui.Call) ([]page, error) {
	language, components, err := LanguagePages(c.Catalog)
	if err != nil {
		return nil, err
	}
	templates, err := TemplatesPage(c.Catalog)
	if err != nil {
		return nil, err
	}
	pages := []page{
		{"language.md", "The language: every key of a spec, of tests and of suites", language},
		{"components.md", "Components: nodes, providers, tools and checks with their keys", components},
		{"expressions.md", "Expressions: the names that each place has", ExpressionsPage()},
		{"templates.md", "Templates: the names that each has, and the keys that take templates and expressions", templates},
		{"diagnostics.md", "Diagnostics: what each code means and the way out", DiagnosticsPage()},
		{"commands.md", "Commands and their flags", commandsPage(c.App)},
		{"exit-codes.md", "Exit codes, and why a run ended", ExitPage()},
		{"result.md", "The result of a run: the fields of -o json", ResultPage()},
		{"events.md", "Events: the types and fields of the stream", EventsPage()},
	}
	graphs, err := graphPages(c)
	return append(pages, graphs...), err
}

const made = "<!-- Made by pexctl docs; make generate writes it anew. -->\n\n"

// componentsStart is where the tables of the components begin.
const componentsStart = "\n## Roles and nodes\n"

// LanguagePages are the tables of the language, and of the components.
func LanguagePages(c *catalog.Catalog) (language, components []byte, err error) {
	before, after, ok := bytes.Cut(jsonschema.Reference(c.Catalog, c.Checks.Blueprints("check")), []byte(componentsStart))
	if !ok {
		return nil, nil, fmt.Errorf("the language's reference has no part %q", componentsStart)
	}
	language = append([]byte(made), before...)
	components = []byte(made + "# Components\n\nWhat specs can name, with the keys it takes; `pexctl list` prints the same in short.\n" + componentsStart)
	return language, append(components, after...), nil
}

// DiagnosticsPage is the reference page of diagnostics, in Markdown.
func DiagnosticsPage() []byte {
	var b bytes.Buffer
	b.WriteString(made + "# Diagnostics\n\n" +
		"`pexctl explain CODE` prints one of them. Each has an example that reports it, and one that reports nothing; the first file of an example is the one that is vetted.\n\n" +
		"A warning is ignored by a comment, `# pex:ignore PEX073 reason`: at the end of a line for that line, alone on a line for the next one. " +
		"Of a text in several lines, and of a prompt in a file of its own, the line counts where it begins or is named. " +
		"`# pex:ignore-file PEX073 reason` before the first key is for the whole file. Errors cannot be ignored, and comments in files from outside of the project ignore nothing.\n")
	indexOfCodes(&b)
	for _, m := range diag.Codes() {
		fmt.Fprintf(&b, "\n## %s\n\n%s", m.Code, m.Markdown())
	}
	return b.Bytes()
}

// indexOfCodes is a line for each code, with a link to it.
func indexOfCodes(b *bytes.Buffer) {
	b.WriteString("\n| code | |\n| --- | --- |\n")
	for _, m := range diag.Codes() {
		fmt.Fprintf(b, "| [%s](#%s) | %s |\n", m.Code, strings.ToLower(string(m.Code)), m.Title)
	}
}

func commandsPage(app *cli.App) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s# Commands\n\n```\n%s```\n", made, ui.AppHelp(app))
	commandParts(&b, app.Commands)
	return b.Bytes()
}

// commandParts writes the help of commands, and of those below them.
func commandParts(b *bytes.Buffer, commands []*cli.Command) {
	for _, c := range ui.Visible(commands) {
		fmt.Fprintf(b, "\n## pexctl %s\n\n```\n%s```\n", c.HelpName, ui.CommandHelp(c))
		commandParts(b, c.Subcommands)
	}
}

// graphPages are the pictures of the specs.
func graphPages(c *ui.Call) ([]page, error) {
	o := c.Catalog.Options()
	o.Prices = pricing.Known()
	var pages []page
	for _, path := range c.Args[min(1, len(c.Args)):] {
		p, _, found := dsl.Compile(path, o)
		if err := ui.ShowDiagnostics(c, found); err != nil {
			return nil, err
		}
		text := fmt.Sprintf("%s# The graph of %s\n\n```mermaid\n%s```\n", made, p.Name, p.Graph.Mermaid())
		pages = append(pages, page{"graphs/" + p.Name + ".md", "The graph of " + p.Name, []byte(text)})
	}
	return pages, nil
}

func index(pages []page) page {
	var b bytes.Buffer
	b.WriteString(made + "# Reference\n\nMade of the code: what stands here is what the program goes by.\n\n")
	for _, p := range pages {
		fmt.Fprintf(&b, "- [%s](%s)\n", p.title, p.name)
	}
	return page{name: "README.md", text: b.Bytes()}
}
