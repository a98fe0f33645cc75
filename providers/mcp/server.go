package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// server is the toolset of one tools entry. It has one connManager per target, of which
// there is one unless parameters differ between runs.
type server struct {
	info     tool.Info
	config   Config
	settings tool.Settings
	cwd      *sandboxfs.Folder
	roots    []*sandboxfs.Folder

	mu       sync.Mutex
	managers map[string]*connManager
	signIns  map[string]*signIn // by origin, until Close
	closed   bool
}

var _ tool.Toolset = (*server)(nil)

func newServer(c *Config, s tool.Settings) (tool.Tool, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	t := &server{config: *c, settings: s, managers: map[string]*connManager{}}
	var err error
	if t.cwd, err = sandboxfs.New(s, c.Cwd, nil); err != nil {
		return nil, err
	}
	for _, root := range c.Roots {
		dir, err := sandboxfs.New(s, root, nil)
		if err != nil {
			return nil, fmt.Errorf("roots: %w", err)
		}
		t.roots = append(t.roots, dir)
	}
	t.info = tool.Info{
		Name: cmp.Or(s.Name, "mcp"), Description: cmp.Or(s.Description, "The tools of an MCP server."),
		Input: json.RawMessage(`{"type":"object"}`), Effect: tool.WriteEffect,
	}
	return t, nil
}

// Info implements tool.Tool.
func (t *server) Info() tool.Info { return t.info }

// Rules implements tool.Toolset.
func (t *server) Rules() tool.Rules {
	r := t.config.rules()
	if len(r.Include) > 0 {
		r.Include = append(r.Include, t.config.syntheticGlobs()...)
	}
	return r
}

// Call implements tool.Tool and always fails: only the server's tools can be called.
func (t *server) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return nil, fmt.Errorf("%s is a server; call one of its tools, whose names start with %s__", t.info.Name, t.info.Name)
}

// List implements tool.Toolset.
func (t *server) List(ctx context.Context, call *tool.Call) (*tool.Listing, error) {
	l, err := t.managerFor(call)
	if err != nil {
		return nil, err
	}
	s, err := l.session(ctx)
	if err != nil {
		return nil, err
	}
	return s.list(ctx)
}

// Bind implements tool.Toolset.
func (t *server) Bind(def tool.Definition) tool.Tool {
	return &member{server: t, def: def, fingerprint: fingerprint(def)}
}

// managerFor returns the connManager for a call's values.
func (t *server) managerFor(call *tool.Call) (*connManager, error) {
	if t.settings.Offline {
		return nil, fmt.Errorf("offline: pexctl test starts no servers and makes no network calls; give run.tools for the tools of %s, or a cassette", t.info.Name)
	}
	look := t.lookup(call)
	start, id, err := t.resolveTarget(look)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errClosed
	}
	l := t.managers[id]
	if l == nil {
		l = newConnManager(t, start)
		t.managers[id] = l
	}
	return l, nil
}

var errClosed = errors.New("the run's tools are closed")

// Close implements tool.Toolset.
func (t *server) Close() error {
	t.mu.Lock()
	t.closed = true
	managers := t.managers
	t.managers = map[string]*connManager{}
	t.mu.Unlock()
	var all sync.WaitGroup
	for _, l := range managers {
		all.Go(l.close)
	}
	all.Wait()
	return nil
}
