package runpage

import (
	"context"
	"encoding/json"

	"github.com/pexctl/pex/engine/diagram"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/secret"
)

// View returns the view of a run, with the values of secrets redacted.
func View(ctx context.Context, r *runs.Run, secrets *secret.Values) (*runview.View, error) {
	v, err := read(ctx, r, runview.Source{Records: r.Records})
	if err != nil {
		return nil, err
	}
	return v, redact(v, secrets)
}

// Outline is View without the prompts.
func Outline(ctx context.Context, r *runs.Run, secrets *secret.Values) (*runview.View, error) {
	v, err := read(ctx, r, runview.Source{})
	if err != nil {
		return nil, err
	}
	return v, redact(v, secrets)
}

// Call returns the last attempt of the call at a path with its prompt, or nil if the run has
// none. Its ID is the same as in the View.
func Call(ctx context.Context, r *runs.Run, secrets *secret.Values, path string) (*runview.Item, error) {
	v, err := read(ctx, r, runview.Source{Records: r.Records, Only: path})
	if err != nil {
		return nil, err
	}
	var found *runview.Item
	for i := range v.Groups {
		for k := range v.Groups[i].Items {
			if it := &v.Groups[i].Items[k]; it.Path == path && isCall(it) {
				found = it
			}
		}
	}
	if found == nil {
		return nil, nil
	}
	return found, redact(found, secrets)
}

// isCall reports whether an item is a call, whose path no other item has.
func isCall(it *runview.Item) bool {
	return it.Kind == runview.ModelItem || it.Kind == runview.ToolItem || it.Kind == runview.QuestionItem
}

func read(ctx context.Context, r *runs.Run, s runview.Source) (*runview.View, error) {
	var events runview.Collector
	path := &runtime.PathRecorder{}
	s.Result, s.Question = r.Watch(ctx, path, &events), runs.Question(r.Start.Input)
	walk := path.Path(s.Result)
	if len(s.Result.Interrupts) > 0 { // whether a process still holds the run makes no difference
		walk.Status, walk.Reason = "waiting", "for an answer"
	}
	s.Events, s.Drawing = events.Events, diagram.Draw(r.Program, walk)
	return runview.New(s)
}

// redact replaces the values of secrets in a view or a part of it.
func redact[T any](v *T, secrets *secret.Values) error {
	whole, err := json.Marshal(v)
	if err != nil {
		return err
	}
	clean, found := secrets.JSON(whole)
	if !found {
		return nil
	}
	*v = *new(T)
	return json.Unmarshal(clean, v)
}
