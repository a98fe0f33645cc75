package faultinject

import (
	"encoding/json"
	"errors"
	"sync"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// Faults holds the injections of one run and counts its calls.
type Faults struct {
	injections []testspec.Inject
	recording  *replay.Recording // replaces models and tools; nil = no recording
	live       map[string]bool   // tools that are called even with a recording

	// Used only on the run's own goroutine, as it issues calls.
	models  map[string]int // calls so far, by role
	tools   map[string]int // by name
	chosen  map[*model.Request]*call
	pending map[purpose][]source // replies of failed calls, for the next call of the same purpose

	mu      sync.Mutex
	matched []bool                            // by injection: a call matched it
	next    map[string]testspec.InjectedError // faults of tool calls in flight, by path
}

// purpose identifies what a model is called for. A retry or fallback has the same purpose.
type purpose struct{ role, step string }

// New returns the faults of one run. The error names the invalid injections.
func New(injections []testspec.Inject) (*Faults, error) {
	var errs []error
	for _, in := range injections {
		errs = append(errs, Validate(in))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Faults{
		injections: injections, matched: make([]bool, len(injections)),
		models: map[string]int{}, tools: map[string]int{}, chosen: map[*model.Request]*call{},
		pending: map[purpose][]source{}, next: map[string]testspec.InjectedError{},
	}, nil
}

// Replay sets the recording that replaces models and all tools except the live ones. Call it before the run; the
// recording must have Passthrough as its option.
func (f *Faults) Replay(r *replay.Recording, live map[string]bool) { f.recording, f.live = r, live }

// Unmatched returns the injections that matched no call of the run.
func (f *Faults) Unmatched() []testspec.Inject {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []testspec.Inject
	for i, in := range f.injections {
		if !f.matched[i] {
			out = append(out, in)
		}
	}
	return out
}

// Passthrough is the replay.Options.Passthrough of the run's recording. A run without a recording needs an empty
// one with Live set, so that its tool calls are counted when they are issued.
func (f *Faults) Passthrough(a kernel.EffectQuery) bool {
	switch a.Layer {
	case replay.LayerLLM:
		return f.bypassModel(a)
	case replay.LayerTool:
		return f.bypassTool(a)
	}
	return false
}

// bypassModel reports whether a model call bypasses the recording: it fails, or it gets the reply of an earlier
// failed call.
func (f *Faults) bypassModel(a kernel.EffectQuery) bool {
	req, _ := a.Detail.(*model.Request)
	c := f.chosen[req]
	if c == nil {
		return false
	}
	delete(f.chosen, req)
	switch {
	case f.recording == nil:
		return false // the host's model is called anyway
	case f.recording.Answers(a.Path) && c.fault == "":
		return false
	case f.recording.Answers(a.Path):
		c.from = recordedReply{f.recording, a.Path}
		f.pending[c.purpose] = append(f.pending[c.purpose], c.from)
		return true
	}
	c.from = f.pendingReply(c.purpose, c.fault != "")
	return c.from != nil || c.fault != ""
}

// bypassTool counts a tool call and reports whether it fails and so bypasses the recording.
func (f *Faults) bypassTool(a kernel.EffectQuery) bool {
	var request struct {
		Tool string `json:"tool"`
	}
	if json.Unmarshal(a.Request, &request) != nil || request.Tool == "" {
		return false
	}
	f.tools[request.Tool]++
	fault := f.find(func(in *testspec.Inject) bool { return in.Tool == request.Tool }, f.tools[request.Tool])
	if fault == "" {
		return false
	}
	f.mu.Lock()
	f.next[a.Path] = fault
	f.mu.Unlock()
	return true
}

// find returns the fault of the nth call of its kind, or "". Injections for this call take precedence over those
// for every call.
func (f *Faults) find(of func(*testspec.Inject) bool, nth int) testspec.InjectedError {
	for _, call := range []int{nth, 0} {
		for i := range f.injections {
			if in := &f.injections[i]; of(in) && in.Call == call {
				f.mu.Lock()
				f.matched[i] = true
				f.mu.Unlock()
				return in.Error
			}
		}
	}
	return ""
}

// pendingReply returns the oldest unused reply of a failed call of this purpose, or nil. If this call fails too, the reply
// remains for the next one.
func (f *Faults) pendingReply(p purpose, fails bool) source {
	all := f.pending[p]
	if len(all) == 0 {
		return nil
	}
	if !fails {
		f.pending[p] = all[1:]
	}
	return all[0]
}
