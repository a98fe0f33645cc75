package mcp

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// place is where a server is, as the values of a run name it. Safe for
// concurrent use.
type place interface {
	// open begins one connection; for a program that is to start it.
	open() (*carrier, error)
}

// carrier is one connection under way.
type carrier struct {
	transport sdk.Transport
	// older is the transport to try when the server refused the first in a way
	// that older ones do; nil = there is none.
	older func() sdk.Transport
	// end ends the connection and leaves nothing of it. It may be called more
	// than once, and returns when that is so.
	end func()
	// about is what the other end left behind that explains a failure, or "".
	about func() string
}

// starter is the place that the values name, and what tells it from others.
func (t *server) starter(look component.Lookup) (place, string, error) {
	var p place
	var err error
	if t.config.Command.IsZero() {
		p, err = t.address(look)
	} else {
		p, err = t.program(look)
	}
	if err != nil {
		return nil, "", err
	}
	id, err := json.Marshal(p)
	if err != nil {
		return nil, "", fmt.Errorf("settings of %s: %w", t.info.Name, err)
	}
	sum := sha256.Sum256(id) // it may hold keys
	return p, string(sum[:]), nil
}

// lookup finds the values of a call for the author's templates.
func (t *server) lookup(call *tool.Call) component.Lookup {
	return func(ns, name string) (any, bool) {
		switch {
		case call != nil && call.Lookup != nil:
			return call.Lookup(ns, name)
		case ns == "env":
			v := t.env(name)
			return v, v != ""
		}
		return nil, false
	}
}

// env is the machine's environment.
func (t *server) env(name string) string {
	if t.settings.Env == nil {
		return os.Getenv(name)
	}
	return t.settings.Env(name)
}

// noting is look that also notes the references it has no value for.
func noting(look component.Lookup, missing *[]string) component.Lookup {
	return func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if !ok || v == nil {
			*missing = append(*missing, "${"+ns+"."+name+"}")
		}
		return v, ok
	}
}

// values are the templates of a mapping that have one.
func values(templates map[string]component.Template, look component.Lookup) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		var missing []string
		t := templates[name]
		text := t.Render(noting(look, &missing))
		if strings.TrimSpace(text) != "" || len(missing) == 0 {
			out[name] = text
		}
	}
	return out
}

// unset says that a setting cannot be filled.
func unset(setting string, missing []string) error {
	return errors.New(setting + " needs " + strings.Join(missing, ", ") + ", which has no value")
}
