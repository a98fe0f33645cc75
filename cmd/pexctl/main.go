package main

import (
	"io"
	"os"

	_ "github.com/pexctl/pex/cmd/pexctl/quiet" // of libraries: what matters comes back as an error
	"github.com/pexctl/pex/internal/process"
	"github.com/pexctl/pex/providers/starlark"
)

// version is stamped by the Makefile.
var version = ""

func main() {
	process.HideSecrets() // before anything is started
	starlark.Serve()
	keepPipes()
	guarding = true
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is pexctl as a function: arguments in, exit code out.
func run(args []string, io streams) int {
	out := newOutlet(io.out)
	io.out, io.err = out, newOutlet(io.err)
	app := newApp(io)
	if len(args) > 0 && args[0] == completing {
		complete(app, args[1:])
		return exitOK
	}
	arranged, err := arrange(app, args)
	if err == nil {
		err = app.Run(append([]string{"pexctl"}, arranged...))
	}
	code := exitCode(err, io.err)
	if err != nil && !out.used && wantsJSON(args) {
		printFailure(out, err)
	}
	if e := out.failed(); e != nil && code == exitOK {
		return exitCode(infra(e), io.err)
	}
	return code
}
