package runfile

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/regular"
)

// Attach sets the attachments of a run that is to start: those of its files that an LLM
// accepts. It stores them as artifacts of a home, so that later sessions do not depend on the
// files. readers are the tools of the program. The error is an *attachment.Error if the run
// must not start with a file.
func Attach(p *engine.Program, in *engine.Input, home string, readers *Readers) error {
	models := p.FileModels()
	a := attacher{input: in, models: models, store: artifact.Open(home, 0), readers: readers}
	for name, path := range in.FilePaths(home) {
		a.paths = append(a.paths, namedPath{name, path})
	}
	slices.SortFunc(a.paths, func(x, y namedPath) int { return slices.Index(in.Files, x.name) - slices.Index(in.Files, y.name) })
	for _, f := range a.paths {
		if err := a.add(f); err != nil {
			return err
		}
	}
	if len(a.attached) == 0 {
		return nil
	}
	if err := attachment.Check(a.attached); err != nil {
		return err
	}
	for _, m := range models {
		if err := attachment.CheckSupport(a.attached, m.Name, m.Accepts, m.FileSupport()); err != nil {
			return err
		}
	}
	return a.keep()
}

// attacher collects the attachments of a run.
type attacher struct {
	input    *engine.Input
	models   []*engine.ModelSpec // that get files
	store    *artifact.Store
	readers  *Readers
	paths    []namedPath
	attached []model.Attachment
}

type namedPath struct{ name, path string }

// add attaches a file if an LLM accepts it.
func (a *attacher) add(f namedPath) error {
	mediaType, err := sniff(f.path)
	if err != nil {
		return fmt.Errorf("file %q: %w", f.name, err)
	}
	if mediaType == "" || !a.accepts(attachment.KindOf(mediaType)) {
		return a.checkReadable(f, mediaType)
	}
	file, err := regular.Open(f.path)
	if err != nil {
		return fmt.Errorf("file %q: %w", f.name, err)
	}
	defer file.Close()
	found, err := attachment.Inspect(f.name, file)
	if err != nil {
		return err
	}
	a.attached = append(a.attached, found)
	return nil
}

// keep stores the attached files that are no artifacts yet, and sets the input.
func (a *attacher) keep() error {
	for _, f := range a.attached {
		if _, stored := a.input.Artifacts[f.Name]; !stored {
			if err := a.put(f); err != nil {
				return err
			}
		}
	}
	a.input.Attachments = a.attached
	return nil
}

// put stores a file as an artifact.
func (a *attacher) put(f model.Attachment) error {
	i := slices.IndexFunc(a.paths, func(p namedPath) bool { return p.name == f.Name })
	file, err := regular.Open(a.paths[i].path)
	if err != nil {
		return fmt.Errorf("file %q: %w", f.Name, err)
	}
	defer file.Close()
	stored, _, err := a.store.Put(file)
	switch {
	case err != nil:
		return fmt.Errorf("file %q: %w", f.Name, err)
	case stored.SHA256 != f.SHA256:
		return fmt.Errorf("file %q was changed while it was read; start the run again", f.Name)
	}
	if a.input.Artifacts == nil {
		a.input.Artifacts = map[string]string{}
	}
	a.input.Artifacts[f.Name] = f.SHA256
	return nil
}

func (a *attacher) accepts(kind model.FileKind) bool {
	return slices.ContainsFunc(a.models, func(m *engine.ModelSpec) bool { return slices.Contains(m.Accepts, kind) })
}

// checkReadable returns an error for a file that no model accepts and no tool can read. Files
// that no model could read anyway are the business of tools, as long as no model takes files.
func (a *attacher) checkReadable(f namedPath, mediaType string) error {
	if a.readers.Read(f.path) || mediaType == "" && len(a.models) == 0 {
		return nil
	}
	e := &attachment.Error{Name: f.name}
	if mediaType == "" {
		e.Why = "is neither an image (PNG, JPEG, GIF, WebP) nor a PDF, and no tool can read it"
		e.Hint = a.readers.Advice()
		return e
	}
	kind := attachment.KindOf(mediaType)
	e.Why = fmt.Sprintf("is for neither a model nor a tool: no LLM of planner, executor or finalizer has accepts: [%s], and no tool can read the file", kind)
	e.Hint = fmt.Sprintf("if the model reads such files, add accepts: [%s] to its entry in llms; for tools, %s", kind, a.readers.Advice())
	return e
}

// sniff returns the media type of a file; "" = no image or PDF.
func sniff(path string) (string, error) {
	f, err := regular.Open(path)
	if errors.Is(err, regular.ErrType) { // a folder, for tools
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, attachment.SniffBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	return attachment.Sniff(head[:n]), nil
}
