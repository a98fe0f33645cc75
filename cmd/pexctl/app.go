package main

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/completecmd"
	"github.com/pexctl/pex/cmd/pexctl/docscmd"
	"github.com/pexctl/pex/cmd/pexctl/evalcmd"
	"github.com/pexctl/pex/cmd/pexctl/initcmd"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/memorycmd"
	"github.com/pexctl/pex/cmd/pexctl/modelcmd"
	"github.com/pexctl/pex/cmd/pexctl/runcmd"
	"github.com/pexctl/pex/cmd/pexctl/speccmd"
	"github.com/pexctl/pex/cmd/pexctl/storecmd"
	"github.com/pexctl/pex/cmd/pexctl/testcmd"
	"github.com/pexctl/pex/cmd/pexctl/toolcmd"
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
			initcmd.InitCommand(env), initcmd.NewCommand(env), initcmd.ImportCommand(env), runcmd.RunCommand(env), runcmd.ResumeCommand(env), runcmd.RunsCommand(env), speccmd.VetCommand(env), speccmd.ExplainCommand(env), speccmd.FmtCommand(env), speccmd.DiffCommand(env), speccmd.GraphCommand(env), speccmd.RenderCommand(env), testcmd.Command(env), evalcmd.Command(env),
			memorycmd.Command(env), storecmd.Command(env), modelcmd.Command(env), toolcmd.Command(env), speccmd.ListCommand(env), speccmd.SchemaCommand(env), completecmd.Command(env), versionCommand(env), speccmd.LSPCommand(env), docscmd.Command(env), guardCommand(env),
		},
	}
	app.CustomAppHelpTemplate = ui.EscapeTemplate(ui.AppHelp(app))
	app.Setup() // before adopt: it would add to the names later
	ui.Adopt(app, "", app.Commands)
	return app
}
