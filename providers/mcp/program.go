package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/process"
)

// program is a server started as a child process and connected through standard input and
// output.
type program struct {
	Argv, Env []string
	Path, Dir string

	server *server
}

var _ target = (*program)(nil)

// program renders the settings of the child process.
func (t *server) program(look component.Lookup) (*program, error) {
	argv, err := t.argv(look)
	if err != nil {
		return nil, err
	}
	env := process.Inherited(t.env)
	maps.Copy(env, renderMap(t.config.Env, look))
	list, err := process.Environ(env)
	if err != nil {
		return nil, err
	}
	return &program{Argv: argv, Env: list, Path: env["PATH"], Dir: t.cwd.Dir(), server: t}, nil
}

// argv returns the program and its arguments.
func (t *server) argv(look component.Lookup) ([]string, error) {
	var missing []string
	look = noteMissing(look, &missing)
	filled, err := json.Marshal(t.config.Command.Render(look))
	if err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	var argv []string
	var one string
	if json.Unmarshal(filled, &one) == nil {
		argv = []string{one}
	} else if json.Unmarshal(filled, &argv) != nil {
		return nil, fmt.Errorf("command: a parameter is not a string, but program arguments must be strings")
	}
	for _, arg := range t.config.Args {
		argv = append(argv, arg.Render(look))
	}
	if len(missing) > 0 {
		return nil, missingValueError("command", missing)
	}
	return argv, nil
}

// open implements target by starting the child.
func (p *program) open() (*connection, error) {
	// Open and close it to check that the folder still exists and is allowed.
	tree, err := p.server.cwd.Open()
	if err != nil {
		return nil, err
	}
	tree.Close()
	child, err := process.Start(process.Command{Argv: p.Argv, Path: p.Path, Dir: p.Dir, Env: p.Env, Guard: p.server.settings.Guard})
	if err != nil {
		return nil, err
	}
	pipes := newPipes(child, p.server.config.MaxMessageBytes)
	return &connection{transport: pipes, close: child.Close, diagnostics: func() string { return pipes.lines.diagnostics(child) }}, nil
}

// diagnostics describes how a child exited, its stderr, and skipped output.
func (l *lineReader) diagnostics(child *process.Child) string {
	var parts []string
	add := func(what, text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, what+tail(text))
		}
	}
	add("the server ended: ", exitText(child))
	add("it wrote to stderr: ", child.Stderr())
	if skipped, first := l.skippedLines(); skipped > 0 {
		add(fmt.Sprintf("%d lines of its output are not messages, the first:  ", skipped), first)
	}
	return strings.Join(parts, "; ")
}
