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
	var events runview.Collector
	path := &runtime.PathRecorder{}
	res := r.Watch(ctx, path, &events)
	v, err := runview.New(runview.Source{
		Result: res, Question: runs.Question(r.Start.Input), Events: events.Events, Records: r.Records,
		Drawing: diagram.Draw(r.Program, path.Path(res)),
	})
	if err != nil {
		return nil, err
	}
	return redacted(v, secrets)
}

// redacted returns a view with the values of secrets redacted.
func redacted(v *runview.View, secrets *secret.Values) (*runview.View, error) {
	whole, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	clean, found := secrets.JSON(whole)
	if !found {
		return v, nil
	}
	out := &runview.View{}
	return out, json.Unmarshal(clean, out)
}
