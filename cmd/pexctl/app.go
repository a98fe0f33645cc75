package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/chatcmd"
	"github.com/pexctl/pex/cmd/pexctl/completecmd"
	"github.com/pexctl/pex/cmd/pexctl/docscmd"
	"github.com/pexctl/pex/cmd/pexctl/evalcmd"
	"github.com/pexctl/pex/cmd/pexctl/initcmd"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/memorycmd"
	"github.com/pexctl/pex/cmd/pexctl/modelcmd"
	"github.com/pexctl/pex/cmd/pexctl/runcmd"
	"github.com/pexctl/pex/cmd/pexctl/servecmd"
	"github.com/pexctl/pex/cmd/pexctl/speccmd"
	"github.com/pexctl/pex/cmd/pexctl/storecmd"
	"github.com/pexctl/pex/cmd/pexctl/testcmd"
	"github.com/pexctl/pex/cmd/pexctl/toolcmd"
)

// newApp returns the application with all commands.
func newApp(env *ui.Env) *cli.App {
	app := &cli.App{
		Name: "pexctl", Usage: "Build, test, run and evaluate plan-execute-reflect LLM agents defined in YAML",
		HideVersion: true, HideHelpCommand: true,
		Reader: env.Stdin, Writer: env.Stdout, ErrWriter: env.Stderr,
		DisableSliceFlagSeparator: true, // values may contain commas
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              func(c *cli.Context, err error, _ bool) error { return ui.InvalidValue(c.Command, err) },
		CommandNotFound:           func(*cli.Context, string) {},
		Action:                    cli.ShowAppHelp,
		Commands: slices.Concat(
			inCategory("Start", initcmd.NewCommand(env), initcmd.InitCommand(env), initcmd.ImportCommand(env)),
			inCategory("Run", runcmd.RunCommand(env), chatcmd.Command(env), runcmd.ResumeCommand(env), runcmd.RunsCommand(env), servecmd.UICommand(env), memorycmd.Command(env), storecmd.Command(env)),
			inCategory("Check", speccmd.VetCommand(env), speccmd.ExplainCommand(env), speccmd.FmtCommand(env), speccmd.DiffCommand(env), testcmd.Command(env)),
			inCategory("Evaluate", evalcmd.Command(env)),
			inCategory("Inspect", speccmd.RenderCommand(env), speccmd.GraphCommand(env), modelcmd.Command(env), toolcmd.Command(env), speccmd.ListCommand(env)),
			inCategory("Integrate", servecmd.Command(env), servecmd.WorkerCommand(env), servecmd.MCPCommand(env), speccmd.LSPCommand(env), speccmd.SchemaCommand(env), completecmd.Command(env), versionCommand(env)),
			[]*cli.Command{docscmd.Command(env), guardCommand(env)}, // hidden
		),
	}
	app.Setup() // before Adopt, to which Setup would add names
	ui.Adopt(app, "", app.Commands)
	return app
}

// inCategory puts commands under a heading of the help.
func inCategory(heading string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = heading
	}
	return commands
}
