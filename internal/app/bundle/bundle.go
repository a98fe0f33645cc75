package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
)

// Bundle is a program whose files are in a folder of this machine. It is immutable and safe for
// concurrent use.
type Bundle struct {
	id       string
	manifest *manifest
	program  json.RawMessage
	folder   string // absolute: what paths of the manifest are relative to
}

// Open verifies a bundle and unpacks its files into a folder of the cache, unless they are there
// already. The content of the cache may be deleted when no run uses it.
func Open(b []byte, id, cache string) (*Bundle, error) {
	if ID(b) != id {
		return nil, damaged("its content does not match its name %.20s", id)
	}
	m, program, err := decode(b)
	if err != nil {
		return nil, err
	}
	folder, err := unpack(m, id, cache)
	if err != nil {
		return nil, fmt.Errorf("unpack the program %s: %w", m.Name, err)
	}
	return &Bundle{id, m, program, folder}, nil
}

// ID returns the name of the bundle; see ID.
func (b *Bundle) ID() string { return b.id }

// Name returns the name of the program.
func (b *Bundle) Name() string { return b.manifest.Name }

// Digest returns the digest of the program.
func (b *Bundle) Digest() string { return b.manifest.Digest }

// Compile compiles the program. If this version of pexctl makes another program of it, it returns a
// BuildError.
func (b *Bundle) Compile(components *catalog.Catalog) (*engine.Program, error) {
	o := b.Origin(nil)
	p, found := dsl.Recompile(b.program, o.Dir, host.RecompileOptions(components, o))
	var err error
	switch {
	case found.Failed():
		first := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
		err = fmt.Errorf("%s: %s", found[first].Code, found[first].Message)
	case p.Digest != b.manifest.Digest:
		err = errors.New("other digest")
	case builtIn(p) != b.manifest.BuiltIn:
		err = errors.New("other built-in prompts")
	default:
		return p, nil
	}
	return nil, &BuildError{b.manifest.Name, b.manifest.Version, version.String(), err}
}

// Origin returns the origin of a run with the places of its files on this machine, for connecting
// its program. The journal stores the original.
func (b *Bundle) Origin(o *engine.Origin) *engine.Origin {
	out := engine.Origin{}
	if o != nil {
		out = *o
	}
	out.Root, out.Dir, out.Spec = b.at(b.manifest.Root), b.at(b.manifest.Dir), ""
	if b.manifest.Spec != "" {
		out.Spec = b.at(b.manifest.Spec)
	}
	out.Allow = nil
	for _, dir := range b.manifest.Allow {
		out.Allow = append(out.Allow, b.at(dir))
	}
	out.Prices = b.manifest.Prices
	return &out
}

// OriginIn is Origin for the tools of a machine that has the project in a folder: root is absolute.
// Allow are absolute folders outside of it that they may use.
func (b *Bundle) OriginIn(o *engine.Origin, root string, allow []string) (*engine.Origin, error) {
	out := b.Origin(o)
	var errs []error
	in := func(p string) string {
		rel, err := filepath.Rel(out.Root, p)
		errs = append(errs, err)
		return filepath.Join(root, rel)
	}
	if out.Dir = in(out.Dir); out.Spec != "" {
		out.Spec = in(out.Spec)
	}
	out.Root, out.Allow = root, allow
	return out, errors.Join(errs...)
}

// at returns the absolute form of a path of the manifest.
func (b *Bundle) at(p string) string { return filepath.Join(b.folder, filepath.FromSlash(p)) }
