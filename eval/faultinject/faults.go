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

// Faults are the injections of one run, and how far it has come to them.
type Faults struct {
	injections []testspec.Inject
	recording  *replay.Recording // answers in place of the models and tools; nil = they answer
	live       map[string]bool   // tools that answer all the same

	// Only the run's own goroutine touches these, as it issues calls.
	models map[string]int // calls so far, by role
	tools  map[string]int // by name
	chosen map[*model.Request]*call
	kept   map[purpose][]source // what calls that failed would have been answered

	mu   sync.Mutex
	hit  []bool                            // of the injections: a call came to them
	next map[string]testspec.InjectedError // faults of the tool calls under way, by path
}

// purpose is what a model is asked for: calls of the same one ask for the same
// thing again.
type purpose struct{ role, step string }

// New makes the faults of one run. An error names an injection that cannot be.
func New(injections []testspec.Inject) (*Faults, error) {
	var errs []error
	for _, in := range injections {
		errs = append(errs, Checked(in))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Faults{
		injections: injections, hit: make([]bool, len(injections)),
		models: map[string]int{}, tools: map[string]int{}, chosen: map[*model.Request]*call{},
		kept: map[purpose][]source{}, next: map[string]testspec.InjectedError{},
	}, nil
}

// Replay says what answers calls in place of models and of all tools but the
// live ones; called before the run, whose recording has Aside as its option.
func (f *Faults) Replay(r *replay.Recording, live map[string]bool) { f.recording, f.live = r, live }

// Missed lists the injections that no call of the run came to.
func (f *Faults) Missed() []testspec.Inject {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []testspec.Inject
	for i, in := range f.injections {
		if !f.hit[i] {
			out = append(out, in)
		}
	}
	return out
}

// Passthrough is the option of the run's recording. A run without one has to be given
// an empty one that is live, so that its tool calls are counted as they are
// issued.
func (f *Faults) Passthrough(a kernel.EffectQuery) bool {
	switch a.Layer {
	case replay.LayerLLM:
		return f.modelAside(a)
	case replay.LayerTool:
		return f.toolAside(a)
	}
	return false
}

// modelAside takes calls aside that fail, and those that get what one that
// failed would have got.
func (f *Faults) modelAside(a kernel.EffectQuery) bool {
	req, _ := a.Detail.(*model.Request)
	c := f.chosen[req]
	if c == nil {
		return false
	}
	delete(f.chosen, req)
	switch {
	case f.recording == nil:
		return false // the host answers in any case
	case f.recording.Answers(a.Path) && c.fault == "":
		return false
	case f.recording.Answers(a.Path):
		c.from = recordedReply{f.recording, a.Path}
		f.kept[c.purpose] = append(f.kept[c.purpose], c.from)
		return true
	}
	c.from = f.left(c.purpose, c.fault != "")
	return c.from != nil || c.fault != ""
}

// toolAside counts a tool's calls and takes those aside that fail.
func (f *Faults) toolAside(a kernel.EffectQuery) bool {
	var asked struct {
		Tool string `json:"tool"`
	}
	if json.Unmarshal(a.Request, &asked) != nil || asked.Tool == "" {
		return false
	}
	f.tools[asked.Tool]++
	fault := f.find(func(in *testspec.Inject) bool { return in.Tool == asked.Tool }, f.tools[asked.Tool])
	if fault == "" {
		return false
	}
	f.mu.Lock()
	f.next[a.Path] = fault
	f.mu.Unlock()
	return true
}

// find is the injection for the nth call of its kind, or "": one that is for
// this call before one that is for every call.
func (f *Faults) find(of func(*testspec.Inject) bool, nth int) testspec.InjectedError {
	for _, call := range []int{nth, 0} {
		for i := range f.injections {
			if in := &f.injections[i]; of(in) && in.Call == call {
				f.mu.Lock()
				f.hit[i] = true
				f.mu.Unlock()
				return in.Error
			}
		}
	}
	return ""
}

// left is what the first call of a purpose that failed would have been answered
// and nobody got; nil = there is none. It is left to the next call still where
// this one fails too.
func (f *Faults) left(p purpose, fails bool) source {
	all := f.kept[p]
	if len(all) == 0 {
		return nil
	}
	if !fails {
		f.kept[p] = all[1:]
	}
	return all[0]
}
