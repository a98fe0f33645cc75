package toolcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
)

func toolsLockCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "lock", Usage: "Pin the tools of MCP servers in pex.lock", ArgsUsage: "SPEC...",
		Description: ui.Help("Lists the tools of the servers without calling them. A run refuses a server whose tools differ from pex.lock. Sub-agents are included. Tools that include and exclude filter out are not pinned.",
			"pexctl tools lock spec.yaml # Write pex.lock; review and commit it",
			"pexctl tools lock specs/*/ --check # In CI",
			"pexctl tools lock spec.yaml --update # Accept changed tools",
		),
		Flags: append(
			append(project.SpecFlags(), ui.LiveFlags()...),
			&cli.BoolFlag{Name: "check", Usage: "Write nothing; exit with 1 if the tools differ from pex.lock"},
			&cli.BoolFlag{Name: "update", Usage: "Also pin tools that differ from pex.lock"},
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "`NAME=VALUE`: Set a parameter that a server's entry uses"},
			project.TrustFlag(), ui.OutputFlag(),
		),
		Action: env.Action(withFlags(toolsLock)),
	}
}

// lockUpdate compares the lock files of projects with the servers' current tools.
type lockUpdate struct {
	c      *call
	locks  map[string]*lockfile.Lock // by the root of the project
	order  []string
	found  []lockedServer
	failed []error // servers that did not reply
}

// lockedServer is a server as pinned, and its current state.
type lockedServer struct {
	Spec        string            `json:"spec"`
	Entry       string            `json:"entry"`
	Status      lockStatus        `json:"status"`
	Server      string            `json:"server"` // name and version from the server
	Tools       []string          `json:"tools"`
	Destructive []string          `json:"destructive"` // tools that the server declares destructive
	Changes     []lockfile.Change `json:"changes"`
	Warnings    []string          `json:"warnings"`

	root  string
	now   lockfile.Entry
	drift *lockfile.Drift
}

// lockStatus is the status of a server in the lock file.
type lockStatus string

const (
	lockedNew     lockStatus = "new"
	lockedSame    lockStatus = "unchanged"
	lockedChanged lockStatus = "changed"
	lockedGone    lockStatus = "gone" // the spec no longer has it
)

func toolsLock(c *call) error {
	if len(c.Args) == 0 {
		return project.NoSpecError(c.Name)
	}
	if c.check && c.update {
		return failure.Usagef("--check and --update cannot be combined")
	}
	l := &lockUpdate{c: c, locks: map[string]*lockfile.Lock{}}
	for _, path := range c.Args {
		if err := l.spec(path); err != nil {
			return err
		}
	}
	if len(l.failed) > 0 {
		return failure.Infra(errors.Join(l.failed...))
	}
	return l.finish(c.JSON)
}

// spec compares the servers of a spec, and of the agents within it.
func (l *lockUpdate) spec(path string) error {
	options := project.SpecOptions(l.c.Call)
	options.Pins = nil // ignore existing pins
	p, spec, found := dsl.Compile(path, options)
	found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Code == diag.UnapprovedTool })
	if err := ui.ShowDiagnostics(l.c.Call, found); err != nil {
		return err
	}
	if p == nil {
		return failure.Usagef("%s cannot be locked", path)
	}
	if err := project.CheckTrust(l.c.Call, spec, project.HomeDir(l.c.Call, spec)); err != nil {
		return err
	}
	params, err := lockParameters(p, l.c.param)
	if err != nil {
		return err
	}
	o, err := project.OriginOf(l.c.Call, spec)
	if err != nil {
		return err
	}
	s := project.SignIn(l.c.Call, spec, host.SettingsOf(l.c.Catalog, o, "", params))
	s.IgnorePins = true
	return l.program(p, s)
}

// lockParameters returns the parameters for connecting to servers; none is
// required.
func lockParameters(p *engine.Program, flags []string) (map[string]any, error) {
	relaxed := *p
	relaxed.Parameters = slices.Clone(p.Parameters)
	for i := range relaxed.Parameters {
		relaxed.Parameters[i].Required = false
	}
	params, err := dsl.Inputs(&relaxed, "", flags, nil)
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	return params, nil
}

func (l *lockUpdate) program(p *engine.Program, s host.Settings) error {
	key := host.LockKey(s.Root, s.Spec)
	if slices.ContainsFunc(l.found, func(f lockedServer) bool { return f.root == s.Root && f.Spec == key }) {
		return nil // two agents may contain the same agent
	}
	lock, err := l.lock(s.Root)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	asked, err := l.ask(p, s, key)
	if err != nil {
		return err
	}
	for _, e := range lock.Entries() {
		if e.Spec == key && !slices.ContainsFunc(p.Tools, func(t tool.Spec) bool { return t.Name == e.Name && asked[t.Name] }) {
			l.found = append(l.found, lockedServer{Spec: key, Entry: e.Name, Status: lockedGone, Server: e.Server, root: s.Root, now: e})
		}
	}
	for _, within := range p.Agents {
		if err := l.program(within, s.Within(within, project.DefaultParameters(within))); err != nil {
			return err
		}
	}
	return nil
}

// lock returns the lock file of a project.
func (l *lockUpdate) lock(root string) (*lockfile.Lock, error) {
	if lock := l.locks[root]; lock != nil {
		return lock, nil
	}
	lock, err := host.ReadLock(root)
	if lock == nil {
		lock = &lockfile.Lock{}
	}
	l.locks[root] = lock
	l.order = append(l.order, root)
	return lock, err
}

// ask connects to the servers of one program, and returns which entries are
// servers.
func (l *lockUpdate) ask(p *engine.Program, s host.Settings, key string) (asked map[string]bool, err error) {
	host, err := host.New(WithOnlyTools(p), s)
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	l.c.Trace.Mask(host.Secrets)
	asked = map[string]bool{}
	servers := serverListings(&host)
	_, warnings, err := runtime.Tools(l.c.Context, p, engine.Input{RunID: "tools", Parameters: s.Parameters}, host)
	if err = errors.Join(err, host.Close()); err != nil {
		return nil, failure.Infra(err)
	}
	for _, h := range servers {
		asked[h.name] = true
		own := warningsOf(h.name, warnings)
		if h.listing == nil {
			l.failed = append(l.failed, fmt.Errorf("%s: %s", fspath.Shown(s.Spec), strings.Join(own, "; ")))
			continue
		}
		e, err := lockfile.NewEntry(key, h.name, lockfile.Sources(p.Source)[h.name], h.listing, h.rules)
		if err != nil {
			return nil, failure.Infra(fmt.Errorf("tools.%s: %w", h.name, err))
		}
		l.compare(s.Root, e, own)
	}
	return asked, nil
}

// serverListing is a server whose tools are being listed.
type serverListing struct {
	name    string // of its entry
	rules   tool.Rules
	listing *tool.Listing // nil if it does not reply
}

// serverListings returns the servers of a host; their listings are set when they reply.
func serverListings(h *engine.Host) []*serverListing {
	var out []*serverListing
	for i := range h.Tools {
		t := &h.Tools[i]
		if set, ok := t.Tool.(tool.Toolset); ok {
			one := &serverListing{name: t.Spec.Name, rules: set.Rules()}
			t.Pinned = func(l *tool.Listing) error { one.listing = l; return nil }
			out = append(out, one)
		}
	}
	return out
}

// compare records the status of a server.
func (l *lockUpdate) compare(root string, now lockfile.Entry, warnings []string) {
	f := lockedServer{Spec: now.Spec, Entry: now.Name, Status: lockedSame, Server: now.Server, Destructive: now.Destructive(), Warnings: warnings, root: root, now: now}
	for _, t := range now.Tools {
		f.Tools = append(f.Tools, t.Name)
	}
	old := l.locks[root].Entry(now.Spec, now.Name)
	if old == nil {
		f.Status = lockedNew
	} else if f.drift = old.Compare(now); f.drift != nil {
		f.Status, f.Changes = lockedChanged, f.drift.Changes
	} else {
		f.now.Tools = old.Tools // in the order of the lock file
	}
	l.found = append(l.found, f)
}

// write writes the listings to the lock files.
func (l *lockUpdate) write() error {
	for _, f := range l.found {
		lock := l.locks[f.root]
		if f.Status == lockedGone {
			lock.Prune(f.Spec, func(name string) bool { return name != f.Entry })
			continue
		}
		lock.Put(f.now)
	}
	for _, root := range l.order {
		path := filepath.Join(root, lockfile.FileName)
		if _, err := os.Stat(path); err != nil && len(l.locks[root].Entries()) == 0 {
			continue // nothing to pin
		}
		if err := fspath.WriteFile(path, 0o644, func(w io.Writer) error { return l.locks[root].Write(w) }); err != nil {
			return failure.Infra(err)
		}
	}
	return nil
}
