package runtime

import (
	"context"
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/tool"
)

// boundSession is the session of one conversation.
type boundSession struct {
	memory memory.SessionStore
	id     string
}

var _ tool.CallSession = boundSession{}

func (b boundSession) Read(ctx context.Context) (memory.Session, error) {
	s, err := b.memory.Session(ctx, b.id)
	return s, sessionTrouble(err)
}

func (b boundSession) Update(ctx context.Context, change func(*memory.Session) error) error {
	var refused error
	err := b.memory.UpdateSession(ctx, b.id, func(s *memory.Session) error {
		refused = change(s)
		return refused
	})
	if refused != nil {
		return err
	}
	return sessionTrouble(err)
}

// session is what the conversation of this run, or of the one it is nested in,
// keeps; nil where nothing is kept.
func (r *run) session() tool.CallSession {
	if r.program.Memory.Backend == "none" {
		return nil
	}
	root := r.root()
	if memory, ok := root.host.Memory.(memory.SessionStore); ok && root.remembers() {
		return boundSession{memory, root.ids.memory}
	}
	return nil
}

// root is the run that is nested in no other.
func (r *run) root() *run {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// keeps is the parts of the session that this run's tools keep.
func (r *run) keeps() (notes, variables bool) {
	for i := range r.host.Tools {
		if t, ok := r.host.Tools[i].Tool.(tool.SessionKeeper); ok {
			notes = notes || t.Keeps() == memory.NotesPart
			variables = variables || t.Keeps() == memory.VariablesPart
		}
	}
	return notes, variables
}

// readSession reads what this run's tools kept in earlier runs of the
// conversation. Without it the run is poorer, and goes on.
func (r *run) readSession(s *scope) error {
	notes, variables := r.keeps()
	kept := r.session()
	if kept == nil || !notes && !variables {
		return nil
	}
	view, err := kernel.Do(s.k, kernel.Effect[memory.SessionView]{
		Name: "memory.session", Class: journal.Read, Layer: replay.LayerMemory, Digest: digest([]byte(r.root().ids.memory)),
		Perform: func(ctx context.Context, _ string) (memory.SessionView, error) {
			ctx, cancel := r.boundStore(ctx)
			defer cancel()
			found, err := kept.Read(ctx)
			if !notes {
				found.Notes = nil
			}
			if !variables {
				found.Variables = nil
			}
			return found.View(), err
		},
	})
	var f *journal.Failure
	switch {
	case errors.As(err, &f):
		s.Record(engine.WarningAdded{Text: "what earlier runs kept for this conversation could not be read: " + f.Message})
	case err != nil:
		return err
	case !view.Empty():
		s.Record(engine.SessionRead{Session: view})
	}
	return nil
}
