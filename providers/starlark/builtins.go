package starlark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/pexctl/pex/internal/sandboxfs"
)

const (
	maxFile  = 8 << 20 // bytes of a file
	maxFiles = 5000    // paths returned for a pattern
)

type arguments = []starlark.Tuple

// readFile implements read_file(path).
func (p *program) readFile(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "path", &name); err != nil {
		return nil, err
	}
	rel, err := p.tree.Clean(name)
	if err != nil {
		return nil, err
	}
	f, info, err := p.tree.File(rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q cannot be read: %w", rel, errors.Unwrap(err))
	case len(text) > maxFile:
		return nil, fmt.Errorf("%q is %d bytes, the maximum for read_file is %d", rel, info.Size(), maxFile)
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%q is not a text file in UTF-8", rel)
	}
	return starlark.String(strings.TrimPrefix(string(text), "\uFEFF")), nil
}

// listFiles implements list_files(pattern).
func (p *program) listFiles(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	pattern := "**"
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "pattern?", &pattern); err != nil {
		return nil, err
	}
	glob, err := sandboxfs.ParseGlob(pattern)
	if err != nil {
		return nil, err
	}
	var found []starlark.Value
	err = p.tree.Walk(context.Background(), ".", glob, func(e sandboxfs.Entry) error {
		if len(found) == maxFiles {
			return fmt.Errorf("more than %d files match %s; narrow the pattern", maxFiles, pattern)
		}
		if !e.Dir {
			found = append(found, starlark.String(e.Path))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return starlark.NewList(found), nil
}

// variables returns the variables object. The program sees its changes immediately. They are stored if it succeeds.
func (p *program) variables() starlark.Value {
	return starlarkstruct.FromStringDict(starlark.String("variables"), starlark.StringDict{
		"get":    starlark.NewBuiltin("variables.get", p.getVariable),
		"set":    starlark.NewBuiltin("variables.set", p.setVariable),
		"delete": starlark.NewBuiltin("variables.delete", p.deleteVariable),
		"names":  starlark.NewBuiltin("variables.names", p.variableNames),
	})
}

// currentVariables returns the variables including the program's changes.
func (p *program) currentVariables() map[string]json.RawMessage {
	all := maps.Clone(p.Variables)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	for name, c := range p.changes {
		if delete(all, name); c.Set != nil {
			all[name] = c.Set
		}
	}
	return all
}

func (p *program) getVariable(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	var name string
	var fallback starlark.Value = starlark.None
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "default?", &fallback); err != nil {
		return nil, err
	}
	if raw, ok := p.currentVariables()[name]; ok {
		return p.decode(raw)
	}
	return fallback, nil
}

func (p *program) setVariable(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	var name string
	var value starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "value", &value); err != nil {
		return nil, err
	}
	if err := p.checkVariable(name); err != nil {
		return nil, err
	}
	raw, err := p.encode(value)
	switch {
	case err != nil:
		return nil, err
	case len(raw) > maxValue:
		return nil, fmt.Errorf("the value of %s is %d bytes, the maximum is %d; store a part of it", name, len(raw), maxValue)
	}
	p.changes[name] = change{raw}
	return starlark.None, nil
}

func (p *program) deleteVariable(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name); err != nil {
		return nil, err
	}
	if err := p.checkVariable(name); err != nil {
		return nil, err
	}
	p.changes[name] = change{}
	return starlark.None, nil
}

func (p *program) variableNames(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	var names []starlark.Value
	for _, name := range slices.Sorted(maps.Keys(p.currentVariables())) {
		names = append(names, starlark.String(name))
	}
	return starlark.NewList(names), nil
}

// checkVariable returns why a variable cannot be set.
func (p *program) checkVariable(name string) error {
	switch {
	case !p.Keeps:
		return errors.New("variables are not available here (the agent has no memory, or variables: false is set for this tool); return the values as the result")
	case !variableName().MatchString(name):
		return fmt.Errorf("%.80q is not a valid variable name; use up to 64 letters, digits, _ . and -", name)
	}
	return nil
}
