package bundle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/bundle"
)

// recording is a Config that names files.
type recording struct {
	File  string   `yaml:"file" path:"file" doc:"A recording."`
	More  []string `yaml:"more" path:"file" doc:"Further ones."`
	Root  string   `yaml:"root" path:"relative" doc:"A folder, which is not in bundles."`
	Title string   `yaml:"title" doc:"A text."`
	Below *inner   `yaml:"below" doc:"A section."`
	Text  component.Template
}

type inner struct {
	File string `yaml:"file" path:"file" doc:"A recording."`
}

// project is a folder with a spec and its files.
type project struct {
	t       *testing.T
	root    string
	program *engine.Program
	origin  *engine.Origin
}

// newProject returns the project at work/agents of a new folder, with a program in desk/spec.yaml.
func newProject(t *testing.T) *project {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, root: filepath.Join(top, "work", "agents")}
	p.write("desk/spec.yaml", "not in the bundle")
	source := json.RawMessage(`{"apiVersion":"pex/v1","kind":"Agent","metadata":{"name":"desk"},"note":"<&>"}`)
	p.program = &engine.Program{Name: "desk", Source: source, Digest: specfs.Digest(source)}
	p.origin = &engine.Origin{
		Spec: filepath.Join(p.root, "desk", "spec.yaml"), Dir: filepath.Join(p.root, "desk"), Root: p.root,
		Prices: map[string]model.Cost{"openai/gpt": {Input: 1.25, Output: 10}}, Set: []string{"limits.max_steps=3"}, Tenant: "acme",
	}
	return p
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) uses(c *recording) {
	p.program.Models = append(p.program.Models, engine.ModelSpec{Name: "main", Path: "llms.main", Config: c})
}

func (p *project) pack() []byte {
	p.t.Helper()
	b, err := bundle.Pack(p.program, p.origin)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

func open(t *testing.T, b []byte, cache string) *bundle.Bundle {
	t.Helper()
	opened, err := bundle.Open(b, bundle.ID(b), cache)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// listed returns the files below a folder with their contents.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%s: %s\n", filepath.ToSlash(rel), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestBytesAreDeterministic: one program has one bundle, on every machine.
func TestBytesAreDeterministic(t *testing.T) {
	var all [2][]byte
	for i := range all {
		p := newProject(t)
		p.write("desk/b.jsonl", "recorded\n")
		p.write("a.jsonl", "more\n")
		p.write("desk/unused.jsonl", "no")
		p.uses(&recording{File: "b.jsonl", More: []string{"../a.jsonl", "b.jsonl"}, Root: "notes", Below: &inner{File: "../a.jsonl"}})
		all[i] = p.pack()
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Errorf("two bundles of one program:\n%s\n%s", all[0], all[1])
	}
	goldentest.File(t, "bundle.txt", string(all[0]))
}

func TestFilesAreUnpacked(t *testing.T) {
	p := newProject(t)
	p.write("desk/rec.jsonl", "recorded\x00\xff")
	p.write("agents/helper/own.jsonl", "of the helper")
	p.uses(&recording{File: "rec.jsonl"})
	p.program.Agents = []*engine.Program{{Name: "helper", File: "../agents/helper/spec.yaml#writer", Tools: []tool.Spec{{Name: "play", Config: &recording{File: "own.jsonl"}}}}}
	cache := filepath.Join(t.TempDir(), "deep", "cache")
	opened := open(t, p.pack(), cache)
	o := opened.Origin(p.origin)
	if got, want := listed(t, o.Root), "agents/helper/own.jsonl: of the helper\ndesk/rec.jsonl: recorded\x00\xff\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if o.Dir != filepath.Join(o.Root, "desk") || o.Spec != filepath.Join(o.Dir, "spec.yaml") || o.Tenant != "acme" || len(o.Set) != 1 || o.Prices["openai/gpt"].Output != 10 {
		t.Errorf("origin %+v", o)
	}
	if opened.Name() != "desk" || opened.Digest() != p.program.Digest || !strings.HasPrefix(opened.ID(), "sha256:") {
		t.Errorf("%s %s %s", opened.Name(), opened.Digest(), opened.ID())
	}
	in, err := opened.OriginIn(p.origin, "/srv/project", []string{"/srv/data"})
	if err != nil || in.Spec != "/srv/project/desk/spec.yaml" || in.Dir != "/srv/project/desk" || in.Root != "/srv/project" || in.Allow[0] != "/srv/data" {
		t.Errorf("%+v %v", in, err)
	}
}

// TestFoldersOutsideTheProject keep their places relative to it, and tell nothing about the folders
// above.
func TestFoldersOutsideTheProject(t *testing.T) {
	p := newProject(t)
	p.write("../../shared/rec.jsonl", "shared")
	p.write("../project/rec.jsonl", "beside")
	p.origin.Allow = []string{filepath.Join(p.root, "..", "..", "shared"), filepath.Join(p.root, "..", "project"), filepath.Join(p.root, "..", "Project_")}
	p.uses(&recording{File: "../../../shared/rec.jsonl", More: []string{"../../project/rec.jsonl"}})
	b := p.pack()
	o := open(t, b, t.TempDir()).Origin(p.origin)
	for name, want := range map[string]string{
		filepath.Join(o.Dir, "..", "..", "..", "shared", "rec.jsonl"): "shared", filepath.Join(o.Root, "..", "project", "rec.jsonl"): "beside",
		filepath.Join(o.Allow[0], "rec.jsonl"): "shared", filepath.Join(o.Allow[1], "rec.jsonl"): "beside",
	} {
		if got, err := os.ReadFile(name); string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	for _, private := range []string{"work", "agents", filepath.Dir(filepath.Dir(p.root))} {
		if bytes.Contains(b, []byte(private)) {
			t.Errorf("the bundle contains %s", private)
		}
	}
}

// TestPinsTravel: of pex.lock, a bundle has the servers of its program.
func TestPinsTravel(t *testing.T) {
	p := newProject(t)
	var lock lockfile.Lock
	for _, key := range [][2]string{{"desk/spec.yaml", "search"}, {"desk/spec.yaml", "gone"}, {"helper.yaml", "files"}, {"other.yaml", "search"}} {
		e, err := lockfile.NewEntry(key[0], key[1], json.RawMessage(`{"command":["run-server"]}`), &tool.Listing{Server: "s 1", Tools: []tool.Definition{{Name: "find", Input: json.RawMessage(`{}`)}}}, tool.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		lock.Put(e)
	}
	var text bytes.Buffer
	if err := lock.Write(&text); err != nil {
		t.Fatal(err)
	}
	p.write(lockfile.FileName, text.String())
	p.program.Tools = []tool.Spec{{Name: "search"}}
	p.program.Agents = []*engine.Program{{File: "../helper.yaml", Tools: []tool.Spec{{Name: "files"}}}}
	got, err := lockfile.Read(open(t, p.pack(), t.TempDir()).Origin(p.origin).Root)
	if err != nil || got.Entry("desk/spec.yaml", "search") == nil || got.Entry("helper.yaml", "files") == nil || len(got.Entries()) != 2 {
		t.Errorf("%v %v", got, err)
	}
	p.write(lockfile.FileName, "{")
	if _, err := bundle.Pack(p.program, p.origin); err == nil {
		t.Error("packed with a lock file that cannot be read")
	}
}

func TestPackRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(p *project)
		want   string
	}{
		"no folder":       {func(p *project) { p.origin.Dir = "" }, "has no folder"},
		"no origin":       {func(p *project) { p.origin = nil }, "has no folder"},
		"missing file":    {func(p *project) { p.uses(&recording{File: "none.jsonl"}) }, "llms.main: none.jsonl: "},
		"absolute path":   {func(p *project) { p.uses(&recording{File: "/etc/passwd"}) }, "is absolute"},
		"outside":         {func(p *project) { p.uses(&recording{File: "../../x.jsonl"}) }, "it is outside the project"},
		"a folder":        {func(p *project) { p.uses(&recording{File: "../desk"}) }, "not a regular file"},
		"a link to there": {func(p *project) { p.link("/etc/hostname", "desk/l"); p.uses(&recording{File: "l"}) }, "escapes"},
		"case": {func(p *project) {
			p.write("desk/A", "")
			p.write("desk/a", "")
			p.uses(&recording{File: "A", More: []string{"a"}})
		}, "differ only in case"},
		"case of folders": {func(p *project) {
			p.write("desk/A/x", "")
			p.write("desk/a/y", "")
			p.uses(&recording{File: "A/x", More: []string{"a/y"}})
		}, "differ only in case"},
		"control": {func(p *project) { p.write("desk/a\nb", ""); p.uses(&recording{File: "a\nb"}) }, "not a path below the project"},
		"many files": {func(p *project) {
			c := &recording{}
			for i := range bundle.MaxFiles + 1 {
				p.write(fmt.Sprintf("desk/%d", i), "")
				c.More = append(c.More, fmt.Sprint(i))
			}
			p.uses(c)
		}, "too large"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			tt.change(p)
			if _, err := bundle.Pack(p.program, p.origin); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func (p *project) link(target, name string) {
	p.t.Helper()
	if err := os.Symlink(target, filepath.Join(p.root, name)); err != nil {
		p.t.Fatal(err)
	}
}

// TestChangedFilesAreReplaced: a file of the cache that was edited, deleted or added is not used.
func TestChangedFilesAreReplaced(t *testing.T) {
	p := newProject(t)
	p.write("desk/rec.jsonl", "recorded")
	p.uses(&recording{File: "rec.jsonl"})
	b, cache := p.pack(), t.TempDir()
	o := open(t, b, cache).Origin(p.origin)
	rec, lock := filepath.Join(o.Dir, "rec.jsonl"), filepath.Join(o.Root, "pex.lock")
	changes := map[string]func() error{
		"edited":  func() error { return os.WriteFile(rec, []byte("RECORDED"), 0o600) },
		"longer":  func() error { return os.WriteFile(rec, []byte("recorded again"), 0o600) },
		"deleted": func() error { return os.Remove(rec) },
		"added":   func() error { return os.WriteFile(lock, nil, 0o600) },
		"a link": func() error {
			return errors.Join(os.Rename(rec, filepath.Join(cache, "rec")), os.Symlink(filepath.Join(cache, "rec"), rec))
		},
		"no folder": func() error { return os.RemoveAll(o.Dir) },
		"nothing":   func() error { return nil },
	}
	for name, change := range changes {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		open(t, b, cache)
		if got := listed(t, o.Root); got != "desk/rec.jsonl: recorded\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(cache, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestConcurrentOpen(t *testing.T) {
	p := newProject(t)
	p.write("desk/rec.jsonl", strings.Repeat("recorded", 1000))
	p.uses(&recording{File: "rec.jsonl"})
	b, cache := p.pack(), t.TempDir()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			opened, err := bundle.Open(b, bundle.ID(b), cache)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(filepath.Join(opened.Origin(p.origin).Dir, "rec.jsonl")); len(got) != 8000 {
				t.Error(len(got), err)
			}
		})
	}
	all.Wait()
}
