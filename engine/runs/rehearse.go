package runs

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// Rehearsal is what a fork would do, as far as that is known without a call.
type Rehearsal struct {
	Run      string   `json:"run_id"` // the run that is forked
	Prompts  []string `json:"edited_prompts,omitempty"`
	Replayed Replayed `json:"replayed"`
	// Live are the first calls that the fork makes: one in each parallel step.
	Live []RehearsedCall `json:"live"`
	// Fails is the call that ends the fork, because its request differs from the recorded one.
	Fails *RehearsedCall `json:"fails,omitempty"`
	// Dropped are the recorded calls that are not replayed. The live part makes others.
	Dropped int `json:"dropped"`
	// WorstCase is the worst case of the live part: that of a run within its limits, minus
	// what is replayed.
	WorstCase costbound.Totals `json:"worst_case"`
}

// Replayed is what a fork takes from the recording.
type Replayed struct {
	ModelCalls int     `json:"model_calls"`
	ToolCalls  int     `json:"tool_calls"`
	Input      int     `json:"input_tokens"`
	Output     int     `json:"output_tokens"`
	CostUSD    float64 `json:"cost_usd"`
}

// RehearsedCall is a call that is not replayed.
type RehearsedCall struct {
	Path string `json:"path"`
	Role string `json:"role,omitempty"` // of a model call
	Name string `json:"name"`           // the model, the tool, or "question"
	// Drift are the classes of differences from the recorded request; none = it does not
	// differ, or Recorded is false.
	Drift    []drift.Class `json:"drift,omitempty"`
	Recorded bool          `json:"recorded"` // the run made a call at this path
}

// RehearseFork returns what a fork would do. It calls no model or tool, and stores nothing.
func (s *Service) RehearseFork(ctx context.Context, parent string, f Fork) (_ *Rehearsal, err error) {
	f.Keep = false
	if f.RunID == "" {
		f.RunID = "rehearsal"
	}
	n, err := s.PrepareFork(ctx, parent, f)
	if err != nil {
		return nil, err
	}
	defer func() {
		if memory, ok := n.Host.Memory.(io.Closer); ok {
			err = errors.Join(err, memory.Close())
		}
		err = errors.Join(err, n.Host.Close())
	}()
	n.Host.Artifacts = s.dir
	o := &rehearsal{recorded: recordedPaths(n.Records), out: &Rehearsal{Run: parent, Live: []RehearsedCall{}}}
	from := n.Input.From
	rec := replay.New(n.Records, replay.Options{Until: from.Until, Layers: from.Layers, Live: from.OnDrift == DriftLive, Rehearse: o.observe})
	res := runtime.Run(ctx, n.Program, n.Input, n.Host, runtime.Options{Recorded: rec, Journal: &journal.Memory{}, Version: s.env.Version})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o.out.Prompts = res.EditedPrompts
	if m, ok := errors.AsType[*replay.Mismatch](res.ReplayMismatch); ok {
		o.out.Fails = o.call(kernel.EffectQuery{Path: m.Path, Layer: m.Layer, Request: m.Request, Detail: m.Model}, m)
		o.out.Live = []RehearsedCall{}
	}
	u := res.Usage
	o.out.Replayed.Input, o.out.Replayed.Output, o.out.Replayed.CostUSD = u.Input, u.Output, u.CostUSD
	o.out.Dropped = len(o.recorded)
	if len(o.out.Live) > 0 {
		o.out.WorstCase = costbound.Bound(n.Program, costbound.Options{}).Limited.Minus(o.out.Replayed.ModelCalls, u.Input, u.Output, u.CostUSD)
	}
	return o.out, nil
}

// rehearsal collects the calls of a fork.
type rehearsal struct {
	recorded map[string]bool // paths of recorded model and tool calls that were not replayed
	out      *Rehearsal
}

// recordedPaths returns the paths of the model and tool calls of a recording.
func recordedPaths(recs []journal.Record) map[string]bool {
	out := map[string]bool{}
	for _, rec := range journal.WithoutVoided(recs) {
		if drift.IsCall(&rec) {
			out[rec.Path] = true
		}
	}
	return out
}

// observe is replay.Options.Rehearse.
func (o *rehearsal) observe(q kernel.EffectQuery, out kernel.RecordedOutcome, differs *replay.Mismatch) {
	isModel, isTool := q.Layer == replay.LayerLLM, q.Layer == replay.LayerTool && toolOf(q.Request) != ""
	switch {
	case out.Result != nil && isModel:
		o.out.Replayed.ModelCalls++
	case out.Result != nil && isTool:
		o.out.Replayed.ToolCalls++
	case out.Result == nil && (isModel || isTool || q.Layer == kernel.LayerPerson):
		o.out.Live = append(o.out.Live, *o.call(q, differs))
		return
	}
	delete(o.recorded, q.Path)
}

// call returns a call that is not replayed.
func (o *rehearsal) call(q kernel.EffectQuery, differs *replay.Mismatch) *RehearsedCall {
	c := &RehearsedCall{Path: q.Path, Name: toolOf(q.Request), Recorded: o.recorded[q.Path]}
	if req, ok := q.Detail.(*model.Request); ok && req != nil {
		c.Role, c.Name = req.Role, req.Params.Model
	}
	if q.Layer == kernel.LayerPerson {
		c.Name = "question"
	}
	if differs == nil {
		return c
	}
	for _, d := range differs.Differences() {
		if n := len(c.Drift); n == 0 || c.Drift[n-1] != d.Class {
			c.Drift = append(c.Drift, d.Class)
		}
	}
	return c
}

// toolOf returns the tool of a call {"tool", "args"}, or "".
func toolOf(request []byte) string {
	var call struct {
		Tool string `json:"tool"`
	}
	_ = json.Unmarshal(request, &call) // anything else is no call
	return call.Tool
}
