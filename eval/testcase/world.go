package testcase

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/faultinject"
)

// connector returns the host of a program whose tools work in a place.
type connector func(p *engine.Program, at Place) (engine.Host, error)

// world replies for models and tools in the run of a case.
type world struct {
	unit    *Unit
	place   Place
	connect connector               // for tools that work in a copy
	script  model.Model             // replies for every LLM; nil = their own models
	replays bool                    // a recording replies for every LLM
	answers map[string]*toolResults // of tools that are not called, by name
	faults  *faultinject.Faults     // nil = none
	memory  memory.Store            // nil = none
	copies  copies

	mu           sync.Mutex
	missingModel string // an LLM without a model that the run called
}

func newWorld(t *try) *world {
	w := &world{unit: t.unit, connect: t.bench.Host, place: t.unit.place(t.state.At()), answers: map[string]*toolResults{}}
	if t.c.Run != nil {
		for name, list := range t.c.Run.Tools {
			w.answers[name] = &toolResults{list: list, at: map[string]int{}}
		}
	}
	return w
}

func (w *world) close() {
	if w != nil {
		w.copies.remove()
	}
}

// host returns the host of a program in the test. base is the host that Bench.Host returned for it.
func (w *world) host(p *engine.Program, base engine.Host, at Place) engine.Host {
	h := base
	h.Memory, h.Models = w.memory, w.models(p, base)
	h.Tools = make([]tool.Binding, len(base.Tools))
	for i, t := range base.Tools {
		h.Tools[i] = w.tool(p, t, i, at)
	}
	if base.Nested != nil {
		h.Nested = func(inner *engine.Program, parameters map[string]any) (engine.Host, error) {
			b, err := base.Nested(inner, parameters)
			if err != nil {
				return b, err
			}
			at := at
			at.Dir = filepath.Join(at.Dir, filepath.FromSlash(path.Dir(inner.File)))
			h := w.host(inner, b, at)
			h.Memory = nil // sub-agents have no conversation
			return h, nil
		}
	}
	return h
}

// models returns the model of each LLM of a program.
func (w *world) models(p *engine.Program, base engine.Host) map[string]model.Model {
	out := make(map[string]model.Model, len(p.Models))
	if w.replays {
		return out
	}
	for i := range p.Models {
		name := p.Models[i].Name
		switch {
		case w.script != nil:
			out[name] = w.script
		case base.Models[name] != nil:
			out[name] = base.Models[name]
		default:
			out[name] = &unavailableModel{w, fmt.Sprintf("llm %s (%s)", name, p.Models[i].Provider)}
		}
	}
	return out
}

// unavailableModel is an LLM without a replacement in the test.
type unavailableModel struct {
	world *world
	name  string
}

// Generate implements model.Model. It records the call and ends the run.
func (n *unavailableModel) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	n.world.mu.Lock()
	defer n.world.mu.Unlock()
	if n.world.missingModel == "" {
		n.world.missingModel = n.name
	}
	return nil, &model.Error{Kind: model.NoReply, Message: "tests call no model: " + n.name}
}

// tool wraps a tool for the test. It returns configured results, or works in a copy of the folder once a tool has
// written.
func (w *world) tool(p *engine.Program, t tool.Binding, i int, at Place) tool.Binding {
	name := t.Tool.Info().Name
	if t.Spec != nil {
		name = t.Spec.Name
		spec := *t.Spec
		spec.Retry.InitialDelay, spec.Retry.MaxDelay = 1, 1 // do not wait
		t.Spec = &spec
	}
	if set, ok := t.Tool.(tool.Toolset); ok {
		t.Tool = tool.WrapToolset(set, name, w.withAnswers) // do not start a server
		return t
	}
	if w.answers[name] != nil {
		t.Tool = w.withAnswers(name, t.Tool)
		return t
	}
	switch t.Tool.(type) {
	case tool.HumanTool, engine.AgentTool, tool.SessionKeeper:
		return t // a question, a sub-agent, or a tool of the case's memory
	}
	writes := effectOf(t) != tool.ReadEffect
	original := t.Tool
	t.Tool = tool.Wrap(original, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		if !writes && !w.copies.written() {
			return original.Call(ctx, c)
		}
		h, err := w.copies.host(w.connect, p, at, w.unit.Dir)
		if err != nil {
			return nil, err
		}
		return h.Tools[i].Tool.Call(ctx, c)
	})
	return t
}

// withAnswers wraps a tool that the case has results for.
func (w *world) withAnswers(name string, t tool.Tool) tool.Tool {
	if a := w.answers[name]; a != nil {
		return tool.Wrap(t, a.give)
	}
	return t
}

func effectOf(t tool.Binding) tool.Effect {
	if t.Spec != nil && t.Spec.Effect != "" {
		return t.Spec.Effect
	}
	if e := t.Tool.Info().Effect; e != "" {
		return e
	}
	return tool.WriteEffect
}

// passthrough is the replay.Options.Passthrough of the run. It also assigns results to calls in the order in which they
// are issued.
func (w *world) passthrough(a kernel.EffectQuery) bool {
	aside := w.faults != nil && w.faults.Passthrough(a)
	if a.Layer != replay.LayerTool || len(w.answers) == 0 {
		return aside
	}
	var call struct {
		Tool string `json:"tool"`
	}
	if json.Unmarshal(a.Request, &call) != nil || w.answers[call.Tool] == nil {
		return aside
	}
	w.answers[call.Tool].issue(a.Path)
	return true
}

// answeredTools returns the names of tools that are not called.
func (w *world) answeredTools() map[string]bool {
	out := make(map[string]bool, len(w.answers))
	for name := range w.answers {
		out[name] = true
	}
	return out
}

// toolResults holds the results of a tool, one per call.
type toolResults struct {
	list []testspec.ToolAnswer
	mu   sync.Mutex
	next int            // index of the next result
	at   map[string]int // by path: the index of the call's result
}

// issue assigns the next result to a call.
func (a *toolResults) issue(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at[path] = a.next
	a.next++
}

// give is the tool's Call. A retry gets the next result.
func (a *toolResults) give(_ context.Context, c *tool.Call) (*tool.Output, error) {
	a.mu.Lock()
	i, issued := a.at[c.Path]
	delete(a.at, c.Path)
	if !issued {
		i = a.next
		a.next++
	}
	a.mu.Unlock()
	if len(a.list) == 0 {
		return &tool.Output{}, nil
	}
	result := a.list[min(i, len(a.list)-1)]
	if result.Error != "" {
		return nil, fmt.Errorf("%s", result.Error)
	}
	if text, ok := result.Result.(string); ok {
		return &tool.Output{Text: text}, nil
	}
	data, err := json.Marshal(result.Result)
	return &tool.Output{Data: data}, err
}

// fixed returns a clock that always returns at.
func fixed(at time.Time) func() time.Time { return func() time.Time { return at } }
