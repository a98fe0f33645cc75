package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
)

// Pack returns the bundle of a program that was compiled on this machine. Origin is where its spec
// was found. It reads the files that components of the program name, and pex.lock.
func Pack(p *engine.Program, o *engine.Origin) ([]byte, error) { return pack(p, o, nil) }

func pack(p *engine.Program, o *engine.Origin, artifacts []upload) ([]byte, error) {
	if o == nil || o.Dir == "" || o.Root == "" {
		return nil, errors.New("the program has no folder, so it cannot be sent to other machines")
	}
	own := *o
	own.Allow = nil
	for _, dir := range o.Allow {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		own.Allow = append(own.Allow, dir)
	}
	k := &packer{origin: &own, read: map[string][]byte{}, size: len(p.Source)}
	for _, a := range artifacts {
		k.size += a.Size
	}
	if err := k.program(p, o.Dir, o.Spec); err != nil {
		return nil, err
	}
	if err := k.pins(); err != nil {
		return nil, err
	}
	m, err := k.manifest(p)
	if err != nil {
		return nil, err
	}
	m.Artifacts = artifacts
	if files := len(m.Files) + len(artifacts); k.size > MaxSize-maxManifest || files > MaxFiles {
		return nil, fmt.Errorf("%w: it has %d files with %d bytes, at most %d files with %d bytes are possible", ErrTooLarge, files, k.size, MaxFiles, MaxSize-maxManifest)
	}
	b, err := encode(m, p.Source)
	if err != nil {
		return nil, err
	}
	if _, _, err := decode(b); err != nil {
		return nil, err // paths that another system cannot have
	}
	return b, nil
}

// packer collects the files of a program.
type packer struct {
	origin *engine.Origin
	read   map[string][]byte // contents by absolute path
	size   int               // of all contents
	keys   []pinned
}

// pinned is an entry of pex.lock that the program may have.
type pinned struct{ spec, entry string }

// program reads the files of a program in a folder, and of the agents that it calls.
func (k *packer) program(p *engine.Program, dir, spec string) error {
	for i := range p.Models {
		if err := k.files(p.Models[i].Config, dir); err != nil {
			return fmt.Errorf("%s: %w", p.Models[i].Path, err)
		}
	}
	for i := range p.Tools {
		t := &p.Tools[i]
		if err := k.files(t.Config, dir); err != nil {
			return fmt.Errorf("tools.%s: %w", t.Name, err)
		}
		if spec != "" {
			k.keys = append(k.keys, pinned{host.LockKey(k.origin.Root, spec), t.Name})
		}
	}
	for _, agent := range p.Agents {
		file := filepath.Join(dir, filepath.FromSlash(agent.File))
		inner := file
		if spec == "" {
			inner = ""
		}
		if err := k.program(agent, filepath.Dir(file), inner); err != nil {
			return fmt.Errorf("%s: %w", agent.File, err)
		}
	}
	return nil
}

// files reads the files that a Config names.
func (k *packer) files(settings any, dir string) error {
	if settings == nil {
		return nil
	}
	for _, name := range config.Files(settings) {
		if filepath.IsAbs(name) {
			return fmt.Errorf("the path %s is absolute: other machines have no such file; write a path relative to the spec", name)
		}
		abs := filepath.Join(dir, filepath.FromSlash(name))
		if _, known := k.read[abs]; known {
			continue
		}
		b, err := k.readFile(abs)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		k.read[abs] = b
		if k.size += len(b); k.size > MaxSize {
			return fmt.Errorf("%w: its files have more than %d MiB", ErrTooLarge, MaxSize>>20)
		}
	}
	return nil
}

// readFile reads a file of the project or of an allowed folder.
func (k *packer) readFile(abs string) ([]byte, error) {
	for _, base := range append([]string{k.origin.Root}, k.origin.Allow...) {
		r := specfs.NewReader(base, base, base, specfs.Access{})
		if rel, no := r.Relative(abs, abs); no == nil {
			return r.ReadRelative(rel, MaxSize+1)
		}
	}
	return nil, errors.New("it is outside the project")
}

// pins adds the entries of pex.lock for the servers of the program, as the lock file of the
// project.
func (k *packer) pins() error {
	lock, err := host.ReadLock(k.origin.Root)
	if err != nil || lock == nil {
		return err
	}
	var own lockfile.Lock
	for _, key := range k.keys {
		if e := lock.Entry(key.spec, key.entry); e != nil {
			own.Put(*e)
		}
	}
	if len(own.Entries()) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := own.Write(&b); err != nil {
		return err
	}
	k.read[filepath.Join(k.origin.Root, lockfile.FileName)] = b.Bytes()
	k.size += b.Len()
	return nil
}

// manifest describes what was collected.
func (k *packer) manifest(p *engine.Program) (*manifest, error) {
	o := k.origin
	paths := slices.Concat([]string{o.Root, o.Dir}, o.Allow)
	for abs := range k.read {
		paths = append(paths, abs)
	}
	if o.Spec != "" {
		paths = append(paths, o.Spec)
	}
	l, err := newLayout(o.Root, paths)
	if err != nil {
		return nil, err
	}
	m := &manifest{
		Version: version.String(), Name: p.Name, Digest: p.Digest, BuiltIn: builtIn(p), Prices: o.Prices, Program: len(p.Source),
	}
	var errs []error
	in := func(abs string) string {
		p, err := l.path(abs)
		errs = append(errs, err)
		return p
	}
	m.Root, m.Dir = in(o.Root), in(o.Dir)
	if o.Spec != "" {
		m.Spec = in(o.Spec)
	}
	for _, dir := range o.Allow {
		m.Allow = append(m.Allow, in(dir))
	}
	for abs, b := range k.read {
		m.Files = append(m.Files, file{in(abs), len(b), b})
	}
	slices.SortFunc(m.Files, func(a, b file) int { return cmp.Compare(a.Path, b.Path) })
	return m, errors.Join(errs...)
}

// builtIn returns a digest of the prompts that the spec does not set: they are part of pexctl, and
// not of the program's digest.
func builtIn(p *engine.Program) string {
	var texts [][2]string
	for _, q := range p.AllPrompts() {
		if q.BuiltIn {
			texts = append(texts, [2]string{q.Name, q.Text})
		}
	}
	b, _ := json.Marshal(texts) // strings always encode
	return specfs.Digest(b)
}
