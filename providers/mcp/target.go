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

// target is a server as selected by the values of a run. Safe for concurrent use.
type target interface {
	// open starts a connection, including the server if it is a program.
	open() (*connection, error)
}

// connection is one connection.
type connection struct {
	transport sdk.Transport
	// fallback returns the transport to try if the server refused the first one as older
	// servers do; nil = none.
	fallback func() sdk.Transport
	// close ends the connection and returns when all its resources are released. It may be called more than once.
	close func()
	// diagnostics returns what the other end reported that may explain a failure, or "".
	diagnostics func() string
}

// resolveTarget returns the target that the values select, and its identity.
func (t *server) resolveTarget(look component.Lookup) (target, string, error) {
	var p target
	var err error
	if t.config.Command.IsZero() {
		p, err = t.newEndpoint(look)
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
	sum := sha256.Sum256(id) // hashed, because it may contain secrets
	return p, string(sum[:]), nil
}

// lookup returns the values of a call for the author's templates.
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

// env returns an environment variable.
func (t *server) env(name string) string {
	if t.settings.Env == nil {
		return os.Getenv(name)
	}
	return t.settings.Env(name)
}

// noteMissing returns look, extended to add references without a value to missing.
func noteMissing(look component.Lookup, missing *[]string) component.Lookup {
	return func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if !ok || v == nil {
			*missing = append(*missing, "${"+ns+"."+name+"}")
		}
		return v, ok
	}
}

// renderMap renders the templates of a mapping and omits those without a value.
func renderMap(templates map[string]component.Template, look component.Lookup) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		var missing []string
		t := templates[name]
		text := t.Render(noteMissing(look, &missing))
		if strings.TrimSpace(text) != "" || len(missing) == 0 {
			out[name] = text
		}
	}
	return out
}

// missingValueError reports that a setting cannot be rendered.
func missingValueError(setting string, missing []string) error {
	return errors.New(setting + " uses " + strings.Join(missing, ", ") + ", which has no value")
}
