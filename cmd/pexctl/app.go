package main

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/runcmd"
)

// newApp lists the commands.
func newApp(env *ui.Env) *cli.App {
	app := &cli.App{
		Name: "pexctl", Usage: "run plan-execute-reflect agents that live in git as YAML",
		HideVersion: true, HideHelpCommand: true,
		Reader: env.Stdin, Writer: env.Stdout, ErrWriter: env.Stderr,
		DisableSliceFlagSeparator: true, // a value may hold commas
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              func(c *cli.Context, err error, _ bool) error { return ui.WrongValue(c.Command, err) },
		CommandNotFound:           func(*cli.Context, string) {},
		Action:                    func(c *cli.Context) error { return cli.ShowAppHelp(c) },
		Commands: []*cli.Command{
			initCommand(env), newCommand(env), importCommand(env), runcmd.RunCommand(env), runcmd.ResumeCommand(env), runcmd.RunsCommand(env), vetCommand(env), explainCommand(env), fmtCommand(env), diffCommand(env), graphCommand(env), renderCommand(env), testCommand(env), evalCommand(env),
			memoryCommand(env), storeCommand(env), modelsCommand(env), toolsCommand(env), listCommand(env), schemaCommand(env), completionCommand(env), versionCommand(env), lspCommand(env), docsCommand(env), guardCommand(env),
		},
	}
	app.CustomAppHelpTemplate = ui.EscapeTemplate(ui.AppHelp(app))
	app.Setup() // before adopt: it would add to the names later
	ui.Adopt(app, "", app.Commands)
	return app
}
