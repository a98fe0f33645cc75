package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/process"
)

// program is a server that is started, and talked to by its standard input and
// output.
type program struct {
	Argv, Env []string
	Path, Dir string

	server *server
}

var _ place = (*program)(nil)

// program fills the settings of the child.
func (t *server) program(look component.Lookup) (*program, error) {
	argv, err := t.argv(look)
	if err != nil {
		return nil, err
	}
	env := process.Inherited(t.env)
	maps.Copy(env, values(t.config.Env, look))
	list, err := process.Environ(env)
	if err != nil {
		return nil, err
	}
	return &program{Argv: argv, Env: list, Path: env["PATH"], Dir: t.cwd.Dir(), server: t}, nil
}

// argv is the program and its arguments.
func (t *server) argv(look component.Lookup) ([]string, error) {
	var missing []string
	look = noting(look, &missing)
	filled, err := json.Marshal(t.config.Command.Render(look))
	if err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	var argv []string
	var one string
	if json.Unmarshal(filled, &one) == nil {
		argv = []string{one}
	} else if json.Unmarshal(filled, &argv) != nil {
		return nil, fmt.Errorf("command: a parameter in it is no text, and arguments of programs are")
	}
	for _, arg := range t.config.Args {
		argv = append(argv, arg.Render(look))
	}
	if len(missing) > 0 {
		return nil, unset("command", missing)
	}
	return argv, nil
}

// open implements place: it starts the child.
func (p *program) open() (*carrier, error) {
	// Opened and closed again: it must be a folder that is still where it may be.
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
	return &carrier{transport: pipes, end: child.Close, about: func() string { return pipes.lines.about(child) }}, nil
}

// about is how a child fared: its end, its last words, and what else it wrote
// where messages belong.
func (l *lines) about(child *process.Child) string {
	var parts []string
	add := func(what, text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, what+tail(text))
		}
	}
	add("the server ended: ", ended(child))
	add("it wrote to stderr: ", child.Stderr())
	if skipped, first := l.passed(); skipped > 0 {
		add(fmt.Sprintf("%d lines of its output are no messages, the first: ", skipped), first)
	}
	return strings.Join(parts, "; ")
}
