package main

import (
	"io"
	"os"
)

// version is stamped by the Makefile.
var version = ""

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is pexctl as a function: arguments in, exit code out.
func run(args []string, io streams) int {
	app := newApp(io)
	return report(app.Run(append([]string{"pexctl"}, permute(app, args)...)), io.err)
}
