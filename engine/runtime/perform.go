package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Site performs the effects of one run in another process than the run's. It is safe for
// concurrent use.
type Site struct {
	root nestedSite

	mu     sync.Mutex
	agents map[string]*nestedSite // by the JSON of their AgentCalls
	uses   int                    // of agents
}

// NewSite returns the site of a run of p with an input. The caller must close it, and then h.
func NewSite(p *engine.Program, h engine.Host, in engine.Input) *Site {
	s := &Site{root: nestedSite{program: p, site: newSite(p, h, &in)}, agents: map[string]*nestedSite{}}
	s.root.site.retries = &model.Retries{}
	s.root.site.bindTools()
	return s
}

// Close closes the hosts of nested agents.
func (s *Site) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, n := range s.agents {
		errs = append(errs, n.site.host.Close())
	}
	clear(s.agents)
	return errors.Join(errs...)
}

// bindTools binds the tools of the spec. Those of servers are bound when they are called.
func (st *site) bindTools() {
	for _, b := range st.host.Tools {
		if _, ok := b.Tool.(tool.Toolset); !ok {
			t := &BoundTool{Binding: b}
			st.tools[st.prepare(t).Name] = t
		}
	}
}

// Perform performs an effect. notify receives its transient events, such as progress, from any
// goroutine; nil = none. The outcome is Fatal if the effect could not be performed: an
// *kernel.Unavailable if it may be possible later.
func (s *Site) Perform(ctx context.Context, w *Work, notify func(engine.Event)) (out kernel.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = kernel.Outcome{Fatal: &kernel.PanicError{Path: w.Path, Value: p, Stack: debug.Stack()}}
		}
	}()
	at, err := s.acquire(w.Agents)
	if err != nil {
		return kernel.Outcome{Fatal: fmt.Errorf("%s: %w", w.Path, err)}
	}
	defer s.release(at)
	st := &at.site
	if notify != nil {
		inner := notify
		notify = func(ev engine.Event) {
			ev.Path, ev.Agent = w.Path, agentOf(w.Agents)
			inner(ev)
		}
	}
	switch {
	case w.Model != nil:
		return st.performModel(ctx, w, notify)
	case w.Tool != nil:
		return st.performTool(ctx, w, notify)
	case w.List != nil:
		return st.performList(ctx, w)
	}
	return st.performMemory(ctx, w)
}

// agentOf returns the path of the agent that the last call is to, or "".
func agentOf(calls []AgentCall) string {
	if len(calls) == 0 {
		return ""
	}
	return calls[len(calls)-1].Path
}

// unperformable returns the outcome of work that does not fit the program.
func unperformable(format string, args ...any) kernel.Outcome {
	return kernel.Outcome{Fatal: fmt.Errorf(format, args...)}
}

// nestedSite is the site of an agent.
type nestedSite struct {
	program *engine.Program
	site    site
	users   int // effects in progress
	last    int // number of its last use
}

// maxIdleAgents is how many nested agents keep their hosts, with the tool servers, for further work.
// A Site does not know when the call of an agent ends.
const maxIdleAgents = 8

// acquire returns the site of the agent that the calls lead to. It opens the hosts on the way.
func (s *Site) acquire(calls []AgentCall) (*nestedSite, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := &s.root
	for i, c := range calls {
		key := string(jsonvalue.Encode(calls[:i+1]))
		n := s.agents[key]
		if n == nil {
			var err error
			if n, err = s.open(at, c); err != nil {
				return nil, err
			}
			s.agents[key] = n
		}
		at = n
	}
	at.users++
	s.uses++
	at.last = s.uses
	return at, nil
}

// release ends a use of an agent, and closes the hosts of those that were not used for the longest
// time.
func (s *Site) release(at *nestedSite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at.users--
	for {
		idle, oldest := 0, ""
		for key, n := range s.agents {
			if n.users > 0 {
				continue
			}
			if idle++; oldest == "" || n.last < s.agents[oldest].last {
				oldest = key
			}
		}
		if idle <= maxIdleAgents {
			return
		}
		_ = s.agents[oldest].site.host.Close() // errors of closing servers do not affect the run
		delete(s.agents, oldest)
	}
}

// open opens the host of a nested agent.
func (s *Site) open(caller *nestedSite, c AgentCall) (*nestedSite, error) {
	if c.Agent < 0 || c.Agent >= len(caller.program.Agents) || caller.site.host.Nested == nil {
		return nil, fmt.Errorf("agent %s: program %s has no such agent", c.Path, caller.program.Digest)
	}
	p := caller.program.Agents[c.Agent]
	h, err := caller.site.host.Nested(p, c.Parameters)
	if err != nil {
		return nil, &kernel.Unavailable{Err: fmt.Errorf("agent %s: %w", p.Name, err)}
	}
	if h.Secrets == nil {
		h.Secrets = caller.site.host.Secrets
	}
	n := &nestedSite{program: p, site: newSite(p, h, &engine.Input{RunID: caller.site.runID + "/" + c.Path, Parameters: c.Parameters})}
	n.site.input = s.root.site.input
	n.site.nest(&s.root.site, c)
	n.site.bindTools()
	return n, nil
}

func (st *site) performModel(ctx context.Context, w *Work, notify func(engine.Event)) kernel.Outcome {
	d := w.Model
	bound, ok := st.models[d.LLM]
	if !ok {
		return unperformable("%s: llm %q is not in the program", w.Path, d.LLM)
	}
	q := &request{Request: d.Request, llm: bound.model, bound: &bound, attempt: d.Attempt, streams: d.Streams, notify: notify, spans: w.Trace, span: w.Span}
	q.Fallback, q.Bounded, q.BoundBy, q.Metered, q.PriorAttempts = d.Fallback, d.Bounded, d.BoundBy, d.Metered, d.PriorAttempts
	attachment.Count(q.Messages, bound.spec.FileSupport())
	q.site = st.leased(d.Retries)
	reply, err := q.perform(model.WithRetries(ctx, q.site.retries), w.Key)
	out := kernel.OutcomeOf(w.Class, w.Path, reply, err)
	out.Notes = notes{Retries: q.site.retries.Count().Minus(d.Retries)}.encode()
	return out
}

func (st *site) performMemory(ctx context.Context, w *Work) kernel.Outcome {
	switch {
	case w.History == nil && w.Session == nil && w.Store == nil:
		return unperformable("%s: the work is of an unknown kind; the worker has another version", w.Path)
	case w.Session != nil && st.session() == nil, w.Session == nil && st.host.Memory == nil:
		return unperformable("%s: the worker has no memory", w.Path)
	case w.History != nil:
		found, err := st.loadHistory(ctx, w.History)
		return kernel.OutcomeOf(w.Class, w.Path, found, err)
	case w.Session != nil:
		found, err := st.loadSession(ctx, w.Session)
		return kernel.OutcomeOf(w.Class, w.Path, found, err)
	}
	return kernel.OutcomeOf(w.Class, w.Path, true, st.store(ctx, w.Store))
}

// leased returns the site with the retries of a run that has used so many.
func (st *site) leased(used model.RetryCount) *site {
	own := *st
	own.retries = &model.Retries{}
	own.retries.Add(used)
	return &own
}

func (st *site) performTool(ctx context.Context, w *Work, notify func(engine.Event)) kernel.Outcome {
	d := *w.Tool
	t, err := st.tool(&d)
	if err != nil {
		return unperformable("%s: %w", w.Path, err)
	}
	if d.Context != nil {
		d.Context.Text = d.Prose
	}
	var dimensions atomic.Int32
	p := &callSegment{
		toolWork: d, site: st.leased(d.Retries), tool: t, path: w.Path, emit: func(engine.Event) {}, spans: w.Trace, span: w.Span,
		remote: newRemoteCall(t.Tool), dimensions: &dimensions,
	}
	if notify != nil {
		p.observed, p.emit = true, func(ev engine.Event) {
			ev.Tool = d.Tool
			notify(ev)
		}
	}
	result, err := p.perform(model.WithRetries(ctx, p.site.retries), w.Key)
	out := kernel.OutcomeOf(w.Class, w.Path, result, err)
	n := notes{Retries: p.site.retries.Count().Minus(d.Retries), Dimensions: dimensions.Load()}
	if p.remote != nil {
		n.Remote = p.remote.reported.Load()
	}
	out.Notes = n.encode()
	return out
}

// tool returns the tool that a call is to.
func (st *site) tool(d *toolWork) (*BoundTool, error) {
	if d.Server == "" {
		if t := st.tools[d.Tool]; t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("tool %q is not in the program", d.Tool)
	}
	entry, err := st.toolset(d.Server)
	if err != nil {
		return nil, err
	}
	if d.Definition == nil {
		return nil, fmt.Errorf("tool %q of server %s has no definition", d.Tool, d.Server)
	}
	set := entry.Tool.(tool.Toolset)
	t := entry.bindMember(set, set.Rules().Override(d.Definition.Name), *d.Definition)
	st.prepare(&t)
	return &t, nil
}

// toolset returns the tools entry of a server.
func (st *site) toolset(name string) (*BoundTool, error) {
	for _, b := range st.host.Tools {
		if _, ok := b.Tool.(tool.Toolset); ok && b.Spec.Name == name {
			return &BoundTool{Binding: b}, nil
		}
	}
	return nil, fmt.Errorf("tool server %q is not in the program", name)
}

func (st *site) performList(ctx context.Context, w *Work) kernel.Outcome {
	t, err := st.toolset(w.List.Toolset)
	if err != nil {
		return unperformable("%s: %w", w.Path, err)
	}
	l, err := st.list(ctx, w.Path, t)
	return kernel.OutcomeOf(w.Class, w.Path, l, err)
}
