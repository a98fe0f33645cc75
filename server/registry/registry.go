package registry

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/server/agents"
)

// Kind is a kind of documents.
type Kind string

// The kinds.
const (
	Connectors Kind = "connectors"
	Models     Kind = "models"
	Agents     Kind = "agents"
	Memories   Kind = "memories" // names of conversations
)

var kinds = []Kind{Connectors, Models, Agents, Memories}

const (
	// maxDocuments is how many documents of a kind a tenant may have.
	maxDocuments = 10_000
	// maxDocument is the size of a document, and maxMemory that of one about a conversation, in
	// bytes of JSON.
	maxDocument = 4 << 20
	maxMemory   = 8 << 10
)

// Body is a registered JSON object.
type Body = map[string]any

// Document is what a client registered.
type Document struct {
	ID      string    `json:"id"`
	Body    Body      `json:"body"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Options configure a Registry.
type Options struct {
	Dir    string // of the tenant
	Agents *agents.Set
	Policy Policy
	Log    *slog.Logger // for documents that cannot be read or used any more
}

// Registry has the documents of a tenant. It is safe for concurrent use.
type Registry struct {
	o Options

	mu     sync.RWMutex
	all    map[Kind]map[string]Document
	broken map[string]error // why agents cannot run, by id
}

// InvalidError reports that a body cannot be registered.
type InvalidError struct{ Message string }

// Error returns the message.
func (e *InvalidError) Error() string { return e.Message }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

// NotFoundError reports a document that does not exist.
type NotFoundError struct {
	Kind Kind
	ID   string
}

// Error names the document.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no %s %q", strings.TrimSuffix(string(e.Kind), "s"), e.ID)
}

// InUseError reports a document that others refer to.
type InUseError struct {
	Kind Kind
	By   []string // ids of documents of Kind
}

// Error names the documents.
func (e *InUseError) Error() string {
	return fmt.Sprintf("still in use; delete or update these %s first: [%s]", e.Kind, strings.Join(e.By, ", "))
}

// ErrFull reports that a tenant has too many documents of a kind.
var ErrFull = fmt.Errorf("there are %d of them; delete some", maxDocuments)

// Open reads the documents of a tenant, and adds its agents to Options.Agents.
func Open(o Options) (*Registry, error) {
	r := &Registry{o: o, all: map[Kind]map[string]Document{}, broken: map[string]error{}}
	for _, k := range kinds {
		r.all[k] = map[string]Document{}
		files, err := os.ReadDir(r.dir(k))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, f := range files {
			if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && validID().MatchString(id) {
				r.read(k, id)
			}
		}
	}
	if err := os.MkdirAll(r.dir(Agents), 0o700); err != nil {
		return nil, err
	}
	for id := range r.all[Agents] {
		a, _, err := r.build(r.all, id, nil)
		if err != nil {
			r.broken[id] = err
			o.Log.Warn("a registered agent cannot run", slog.String("agent", id), slog.Any("error", err))
			continue
		}
		o.Agents.Add(a)
	}
	return r, nil
}

var validID = text.Regexp(`^[a-z0-9]{20}$`)

func (r *Registry) dir(k Kind) string { return filepath.Join(r.o.Dir, string(k)) }

func (r *Registry) file(k Kind, id string) string { return filepath.Join(r.dir(k), id+".json") }

// read reads a document. One that cannot be read stays on the disk.
func (r *Registry) read(k Kind, id string) {
	var d Document
	b, err := os.ReadFile(r.file(k, id))
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err == nil && (d.ID != id || d.Body == nil) {
		err = errors.New("it has no body, or another id")
	}
	if err != nil {
		r.o.Log.Error("a registered document cannot be read", slog.String("file", r.file(k, id)), slog.Any("error", err))
		return
	}
	r.all[k][id] = d
}

func (r *Registry) write(k Kind, d Document) error {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	most := maxDocument
	if k == Memories {
		most = maxMemory
	}
	if len(jsonvalue.Encode(d.Body)) > most {
		return invalid("the document has more than %d bytes; remove members of it", most)
	}
	if err := os.MkdirAll(r.dir(k), 0o700); err != nil {
		return err
	}
	err = fspath.WriteFile(r.file(k, d.ID), 0o600, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return syncFolder(r.dir(k))
}

// syncFolder makes a renamed or removed file durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Get returns a document. The caller must not change it.
func (r *Registry) Get(k Kind, id string) (Document, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	d, ok := r.all[k][id]
	if !ok {
		return d, &NotFoundError{k, id}
	}
	return d, nil
}

// List returns the documents of a kind, oldest first. The caller must not change them.
func (r *Registry) List(k Kind) []Document {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.SortedFunc(maps.Values(r.all[k]), func(a, b Document) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// Broken returns why a registered agent cannot run, or nil.
func (r *Registry) Broken(id string) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.broken[id]
}

// Create registers a body. notes say what a person should still do, such as set a variable.
// The error is an *InvalidError, a *NotFoundError, or ErrFull.
func (r *Registry) Create(k Kind, body Body) (id string, notes []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all[k]) >= maxDocuments {
		return "", nil, ErrFull
	}
	now := time.Now().UTC().Round(time.Millisecond)
	d := Document{ID: strings.ToLower(rand.Text()[:20]), Body: body, Created: now, Updated: now}
	notes, err = r.put(k, d)
	return d.ID, notes, err
}

// Update replaces members of a body; those that are null are removed.
func (r *Registry) Update(k Kind, id string, members Body) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.all[k][id]
	if !ok {
		return &NotFoundError{k, id}
	}
	d.Body, d.Updated = merge(d.Body, members), time.Now().UTC().Round(time.Millisecond)
	_, err := r.put(k, d)
	return err
}

// merge returns a body with other members, at any depth.
func merge(body, members Body) Body {
	out := maps.Clone(body)
	for name, value := range members {
		before, isObject := out[name].(Body)
		after, alsoObject := value.(Body)
		switch {
		case value == nil:
			delete(out, name)
		case isObject && alsoObject:
			out[name] = merge(before, after)
		default:
			out[name] = value
		}
	}
	return out
}

// put checks and stores a document, and rebuilds the agents that use it. The caller holds mu.
func (r *Registry) put(k Kind, d Document) (notes []string, err error) {
	if k != Memories {
		if err := check(d.Body); err != nil {
			return nil, err
		}
	}
	all := maps.Clone(r.all)
	all[k] = maps.Clone(all[k])
	all[k][d.ID] = d
	if k == Models {
		if err := checkModel(all, d.Body); err != nil {
			return nil, err
		}
	}
	var built []*agents.Agent
	for _, id := range r.affected(all, k, d.ID) {
		a, more, err := r.build(all, id, nil)
		if err != nil && k != Agents {
			return nil, invalid("agent %s: %v", id, err)
		}
		if err != nil {
			return nil, err
		}
		built, notes = append(built, a), append(notes, more...)
	}
	if err := r.write(k, d); err != nil {
		return nil, err
	}
	r.all = all
	r.o.Agents.Add(built...)
	for _, a := range built {
		delete(r.broken, a.Name)
	}
	return notes, nil
}

// Delete removes a document. Runs of an agent continue. The error is a *NotFoundError or an
// *InUseError.
func (r *Registry) Delete(k Kind, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.all[k][id]; !ok {
		return &NotFoundError{k, id}
	}
	if by := users(r.all, k, id); by != nil {
		return by
	}
	if err := os.Remove(r.file(k, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := syncFolder(r.dir(k)); err != nil {
		return err
	}
	all := maps.Clone(r.all)
	all[k] = maps.Clone(all[k])
	delete(all[k], id)
	r.all = all
	if k == Agents {
		delete(r.broken, id)
		r.o.Agents.Remove(id)
	}
	return nil
}
