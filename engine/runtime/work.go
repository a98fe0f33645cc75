package runtime

import (
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
)

// Work is an effect of a run as data: what a Site needs to perform it, besides the program, the
// host and the input of the run. Exactly one of the fields after Span is set.
type Work struct {
	Path   string            `json:"path"` // of the effect, unique in its run
	Key    string            `json:"key"`  // idempotency key
	Class  journal.Class     `json:"class"`
	Agents []AgentCall       `json:"agents,omitempty"` // calls from the outermost run to the agent whose effect it is
	Trace  *tracecontext.Run `json:"trace,omitempty"`
	Span   string            `json:"span,omitempty"` // path of its span

	Model   *modelWork   `json:"model,omitempty"`
	Tool    *toolWork    `json:"tool,omitempty"`
	List    *listWork    `json:"list,omitempty"`
	History *historyWork `json:"history,omitempty"`
	Session *sessionWork `json:"session,omitempty"`
	Store   *storeWork   `json:"store,omitempty"`
}

// AgentCall is a call of a nested agent.
type AgentCall struct {
	Agent      int            `json:"agent"` // index in Program.Agents of the caller
	Path       string         `json:"path"`  // of the call
	Parameters map[string]any `json:"parameters,omitempty"`
}

// UnmarshalJSON decodes the parameters as Program.Arguments returns them: whole numbers are int.
func (c *AgentCall) UnmarshalJSON(b []byte) error {
	type plain AgentCall
	if err := jsonvalue.Unmarshal(b, (*plain)(c)); err != nil {
		return err
	}
	jsonvalue.Normalize(c.Parameters)
	return nil
}

// WorkKind is what a Work needs of the worker that performs it.
type WorkKind string

// The kinds of work.
const (
	ModelWork  WorkKind = "model"
	ToolWork   WorkKind = "tool"
	MemoryWork WorkKind = "memory"
)

// Kind returns the kind of the work, and the name of its LLM or its tools entry.
func (w *Work) Kind() (kind WorkKind, name string) {
	switch {
	case w.Model != nil:
		return ModelWork, w.Model.LLM
	case w.Tool != nil && w.Tool.Server != "":
		return ToolWork, w.Tool.Server
	case w.Tool != nil:
		return ToolWork, w.Tool.Tool
	case w.List != nil:
		return ToolWork, w.List.Toolset
	}
	return MemoryWork, ""
}

// WorkOf returns what a task of a run does. It is nil if only the process of the run can perform
// the task: a question to a human, or an answer of a model.Sequenced, which the program contains.
func WorkOf(t kernel.Task) *Work {
	d, ok := t.Work().(described)
	if !ok {
		return nil
	}
	w := &Work{Path: t.Path(), Key: t.Key(), Class: t.Class()}
	d.describe(w)
	return w
}

// described is the work of an effect.
type described interface {
	kernel.Work
	describe(w *Work)
}

// notes are what was observed of an effect besides its outcome.
type notes struct {
	Retries    model.RetryCount `json:"retries,omitzero"` // taken, and calls counted
	Remote     *tool.RemoteCall `json:"remote,omitempty"`
	Dimensions int32            `json:"dimensions,omitempty"`
}

func (n notes) encode() []byte {
	if n == (notes{}) {
		return nil
	}
	return jsonvalue.Encode(n)
}

// decodeNotes reads notes. Damaged ones are dropped, since nothing depends on them.
func decodeNotes(b []byte) (n notes) {
	if json.Unmarshal(b, &n) != nil {
		return notes{}
	}
	return n
}

// modelWork is a model call.
type modelWork struct {
	LLM     string        `json:"llm"`
	Request model.Request `json:"request"`
	Streams bool          `json:"streams,omitempty"`
	Attempt attempt       `json:"attempt"`

	// What the JSON of a request omits.
	Fallback      bool   `json:"fallback,omitempty"`
	Bounded       bool   `json:"bounded,omitempty"`
	BoundBy       string `json:"bound_by,omitempty"`
	Metered       bool   `json:"metered,omitempty"`
	PriorAttempts int    `json:"prior_attempts,omitempty"`

	Retries model.RetryCount `json:"retries,omitzero"` // of the run so far
}

func (q *request) describe(w *Work) {
	w.Agents, w.Trace, w.Span = q.site.agents, q.spans, q.span
	w.Model = &modelWork{
		LLM: q.bound.spec.Name, Request: q.Request, Streams: q.streams, Attempt: q.attempt, Fallback: q.Fallback, Bounded: q.Bounded,
		BoundBy: q.BoundBy, Metered: q.Metered, PriorAttempts: q.PriorAttempts, Retries: q.site.retries.Count(),
	}
}

// Note implements kernel.Work.
func (q *request) Note(b []byte) { q.site.retries.Add(decodeNotes(b).Retries) }

// toolWork is a call of a tool, or its part between two questions.
type toolWork struct {
	Tool       string            `json:"tool"`
	Server     string            `json:"server,omitempty"`     // tools entry of the server that has the tool
	Definition *tool.Definition  `json:"definition,omitempty"` // the server's of the tool
	Args       json.RawMessage   `json:"args"`
	Context    *tool.PlanContext `json:"context,omitempty"`
	Prose      string            `json:"prose,omitempty"` // Context.Text
	Answers    []qa              `json:"answers,omitempty"`
	Metered    bool              `json:"metered,omitempty"` // a budget pays for the tool's LLM calls
	Granted    int               `json:"granted,omitempty"` // embedding tokens paid for

	Retries model.RetryCount `json:"retries,omitzero"` // of the run so far
}

func (p *callSegment) describe(w *Work) {
	w.Agents, w.Trace, w.Span = p.site.agents, p.spans, p.span
	d := p.toolWork
	if d.Context != nil {
		d.Prose = d.Context.Text
	}
	if d.Retries = p.site.retries.Count(); p.tool.billedLLM() == "" {
		d.Retries = model.RetryCount{}
	}
	w.Tool = &d
}

// Note implements kernel.Work.
func (p *callSegment) Note(b []byte) {
	n := decodeNotes(b)
	p.site.retries.Add(n.Retries)
	p.remote.note(n.Remote)
	p.dimensions.Store(n.Dimensions)
}

// listWork lists the tools of a server.
type listWork struct {
	site *site

	Toolset string `json:"toolset"` // tools entry of the server
}

func (l *listWork) describe(w *Work) { w.Agents, w.List = l.site.agents, l }

// Note implements kernel.Work.
func (*listWork) Note([]byte) {}

// historyWork reads a conversation.
type historyWork struct {
	site *site

	Memory   string        `json:"memory"`
	Executor string        `json:"executor"` // conversation of the steps
	Turns    int           `json:"turns"`    // how many are shown at most
	Steps    int           `json:"steps"`
	Timeout  time.Duration `json:"timeout,omitempty"`
}

func (h *historyWork) describe(w *Work) { w.Agents, w.History = h.site.agents, h }

// Note implements kernel.Work.
func (*historyWork) Note([]byte) {}

// sessionWork reads the session state of a conversation.
type sessionWork struct {
	site *site

	Notes     bool          `json:"notes,omitempty"`
	Variables bool          `json:"variables,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"`
}

func (m *sessionWork) describe(w *Work) { w.Agents, w.Session = m.site.agents, m }

// Note implements kernel.Work.
func (*sessionWork) Note([]byte) {}

// storeWork stores a run in its conversation.
type storeWork struct {
	site *site

	Interactions []memory.Interaction `json:"interactions"`
	Timeout      time.Duration        `json:"timeout,omitempty"`
}

func (m *storeWork) describe(w *Work) { w.Agents, w.Store = m.site.agents, m }

// Note implements kernel.Work.
func (*storeWork) Note([]byte) {}
