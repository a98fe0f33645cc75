package main

import (
	"io"
	"os"

	"github.com/pexctl/pex/cmd/pexctl/completecmd"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	_ "github.com/pexctl/pex/cmd/pexctl/quiet" // silences libraries, whose errors are returned
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/procguard"
	_ "github.com/pexctl/pex/internal/gctune" // before most packages are initialized
	"github.com/pexctl/pex/internal/process"
	"github.com/pexctl/pex/providers/starlark"
)

func main() {
	process.HideSecrets() // before any process starts
	starlark.Serve()
	ui.IgnoreBrokenPipe()
	procguard.Enabled = true
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func newEnv(io streams) *ui.Env {
	return &ui.Env{Stdin: io.in, Stdout: io.out, Stderr: io.err, Catalog: components()}
}

// run runs pexctl with arguments and returns its exit code.
func run(args []string, io streams) int {
	out, errOut := ui.NewOutput(io.out), ui.NewOutput(io.err)
	color, args, err := ui.TakeColor(args)
	if err != nil {
		return ui.PrintError(err, errOut)
	}
	out.Color, errOut.Color = color, color
	io.out, io.err = out, errOut
	env := newEnv(io)
	exported := &telemetry{stderr: io.err, catalog: env.Catalog}
	env.Catalog.Sinks, env.Catalog.Evaluate, env.Metrics = exported.sinks, exported.evaluate, exported.metrics
	defer exported.close()
	app := newApp(env)
	if len(args) > 0 && args[0] == completecmd.Word {
		completecmd.Complete(env.Catalog, app, args[1:])
		return ui.ExitOK
	}
	arranged, err := ui.Arrange(app, args)
	if err == nil {
		err = app.Run(append([]string{"pexctl"}, arranged...))
	}
	code := ui.PrintError(err, io.err)
	if err != nil && !out.Used && ui.ArgsWantJSON(args) {
		ui.PrintFailure(out, err)
	}
	if e := out.Failed(); e != nil && code == ui.ExitOK {
		return ui.PrintError(failure.Infra(e), io.err)
	}
	return code
}
