package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime/redact"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// changedTools is the failure code for tool.ErrChanged in the journal.
const changedTools = "tools_changed"

// connectTools lists the tools of the spec's tool servers in parallel. The journal stores
// the listings, so a resumed run has the same tools.
func (r *run) connectTools(s *scope) error {
	var sets []*BoundTool
	for i := range r.host.Tools {
		if _, ok := r.host.Tools[i].Tool.(tool.Toolset); ok {
			sets = append(sets, &BoundTool{Binding: r.host.Tools[i]})
		}
	}
	if len(sets) == 0 {
		return nil
	}
	found := make([][]BoundTool, len(sets))
	name := func(i int) string { return "tools." + sets[i].Spec.Name }
	err := s.parallel(len(sets), name, func(i int, s *scope) (err error) {
		found[i], err = r.serverTools(s, sets[i])
		return err
	})
	if err != nil {
		return err
	}
	r.infos = r.infos[:0]
	for _, t := range r.host.Tools {
		members := []BoundTool{{Binding: t}}
		if _, ok := t.Tool.(tool.Toolset); ok {
			members, found = found[0], found[1:]
		}
		for _, m := range members {
			r.register(m)
		}
	}
	return nil
}

// register adds a tool to the run.
func (r *run) register(t BoundTool) {
	info := r.prepare(&t)
	r.tools[info.Name] = &t
	r.infos = append(r.infos, info)
}

// serverTools returns the tools of a server. If the server cannot be listed it records a
// warning and returns none.
func (r *run) serverTools(s *scope, t *BoundTool) ([]BoundTool, error) {
	set := t.Tool.(tool.Toolset)
	shared := newSemaphore(t.Spec)
	listing, err := r.listTools(s, t)
	if err != nil || listing == nil {
		return nil, err
	}
	warn := func(text string) { s.Record(engine.WarningAdded{Text: "tools." + t.Spec.Name + ": " + text}) }
	for _, text := range listing.Warnings {
		warn(text)
	}
	rules, names := set.Rules(), map[string]bool{}
	var out []BoundTool
	for _, def := range listing.Tools {
		if !rules.Admits(def.Name) {
			continue
		}
		m, shown := t.bindMember(set, rules.Override(def.Name), def), tool.Excerpt(def.Name, 2*tool.MaxName)
		switch owner := r.nameOwner(t, m.Spec.Name); {
		case owner != "":
			warn(fmt.Sprintf("tool %q is ignored: its name %s belongs to %s", shown, m.Spec.Name, owner))
		case names[m.Spec.Name]:
			warn(fmt.Sprintf("tool %q is ignored: duplicate name %s", shown, m.Spec.Name))
		case len(m.Spec.Name) > tool.MaxName:
			warn(fmt.Sprintf("tool %q is ignored: with the prefix %s__ its name is longer than %d characters, the maximum of model providers; give the server a shorter name", shown, t.Spec.Name, tool.MaxName))
		default:
			names[m.Spec.Name] = true
			if err := m.compileSchema(def); err != nil {
				warn(fmt.Sprintf("tool %q is ignored: its input schema is invalid: %v", shown, err))
				continue
			}
			m.sem = shared
			out = append(out, m)
		}
	}
	for _, o := range rules.Overrides {
		if !slices.ContainsFunc(listing.Tools, func(d tool.Definition) bool { return d.Name == o.Name }) {
			warn(fmt.Sprintf("overrides.%s matches no tool of the server", o.Name))
		}
	}
	return out, nil
}

// nameOwner returns what else owns the name that a tool of entry's server would get, or
// "" if the name is free. A tool of the spec owns its name; a server entry owns every
// name with its prefix, and the longest prefix wins. So no server can shadow a tool of
// the spec or of another server.
func (r *run) nameOwner(entry *BoundTool, member string) string {
	for i := range r.host.Tools {
		t := &BoundTool{Binding: r.host.Tools[i]}
		name := t.Info().Name
		_, set := t.Tool.(tool.Toolset)
		switch {
		case t.Spec == entry.Spec:
		case !set && name == member:
			return "a tool of the spec"
		case set && len(name) > len(entry.Spec.Name) && strings.HasPrefix(member, tool.MemberName(name, "")):
			return "a tool of " + name
		}
	}
	return ""
}

// listTools returns the journaled listing of a server. If the server failed it records a
// warning and returns nil.
func (r *run) listTools(s *scope, t *BoundTool) (*tool.Listing, error) {
	e := kernel.Effect[*tool.Listing]{Name: "list", Class: journal.Read, Layer: replay.LayerTool}
	if r.journaled() {
		body := jsonvalue.Encode(struct {
			Toolset string `json:"toolset"`
		}{t.Spec.Name})
		e.Digest, e.Request = digest(body), func() []byte { return body }
	}
	w := &listWork{site: &r.site, Toolset: t.Spec.Name}
	path := joinPath(s.Path(), e.Name)
	e.Work, e.Perform = w, func(ctx context.Context, _ string) (*tool.Listing, error) { return r.list(ctx, path, t) }
	l, err := kernel.Do(s.k, e)
	f, failed := errors.AsType[*journal.Failure](err)
	switch {
	case failed && f.Code == changedTools:
		return nil, stop.Fail(stop.ToolsChanged, "tools."+t.Spec.Name, "%s", f.Message)
	case failed:
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("tools.%s: unavailable: %s", t.Spec.Name, f.Message)})
		return nil, nil
	}
	return l, err
}

// list lists the tools of a server.
func (st *site) list(ctx context.Context, path string, t *BoundTool) (*tool.Listing, error) {
	masked := redact.New(st.host.Secrets)
	l, err := t.Tool.(tool.Toolset).List(ctx, &tool.Call{RunID: st.runID, Path: path, Lookup: st.lookup(nil), Progress: func(string) {}})
	l = masked.Listing(l.Visible())
	if err == nil && t.Pinned != nil {
		err = t.Pinned(l)
	}
	switch {
	case errors.Is(err, tool.ErrChanged):
		return nil, &journal.Failure{Code: changedTools, Message: masked.Text(err.Error())}
	case err != nil:
		return nil, &journal.Failure{Code: "error", Message: masked.Text(err.Error())}
	}
	return l, nil
}

// bindMember returns one tool of a server with the settings of its entry and its override
// applied.
func (t *BoundTool) bindMember(set tool.Toolset, o tool.Override, def tool.Definition) BoundTool {
	spec := *t.Spec
	spec.Name = tool.MemberName(t.Spec.Name, def.Name)
	spec.Description = cmp.Or(o.Description, def.Description, def.Title)
	if spec.Effect = def.Hints.Tighten(o.Effect, t.Spec.Effect); def.BuiltIn && o.Effect == "" {
		spec.Effect = tool.ReadEffect
	}
	if !o.Approval.IsZero() {
		spec.Approval = o.Approval
	}
	if spec.Rule = o.Rule.Or(spec.Rule); !spec.Rule.IsZero() && spec.Approval.IsZero() {
		spec.Approval.Source = "always"
	}
	spec.OnUnknown = cmp.Or(o.OnUnknown, spec.OnUnknown)
	spec.With = append(slices.Clip(o.With), slices.DeleteFunc(slices.Clone(t.Spec.With), func(f tool.Fixed) bool {
		return slices.ContainsFunc(o.With, func(own tool.Fixed) bool { return own.Name == f.Name })
	})...)
	return BoundTool{
		Binding: tool.Binding{Spec: &spec, Tool: set.Bind(def), FitTo: t.FitTo},
		server:  t.Spec.Name, def: &def, sampling: set.Rules().Sampling,
	}
}

// compileSchema compiles the tool's input schema.
func (t *BoundTool) compileSchema(def tool.Definition) (err error) {
	if t.FitTo != nil {
		t.Fit, err = t.FitTo(def.Input)
	}
	return err
}

// BoundTool is a tool bound to one run.
type BoundTool struct {
	tool.Binding

	cachedEffect  tool.Effect                           // effect, computed once per run
	mask          redact.Mask                           // redacts the secrets of the run's host
	redactVisible func(tool.Definition) tool.Definition // for tool.Call.Redacted
	sem           *semaphore                            // limits concurrent calls; nil = no limit
	server        string                                // tools entry of the server that provides it, or ""
	def           *tool.Definition                      // the server's definition of it, or nil
	sampling      tool.Sampling                         // its server's sampling settings
	vectorLLM     string                                // LLM that embeds texts for it, or ""
}

// Member returns the tools entry of the server that provides the tool and the server's
// definition of it, or "" and nil if no server does.
func (t *BoundTool) Member() (entry string, def *tool.Definition) { return t.server, t.def }

// ToolInfos returns the descriptions of the tools, as models and guards see them.
func ToolInfos(tools []BoundTool) []tool.Info {
	out := make([]tool.Info, len(tools))
	for i := range tools {
		out[i] = tools[i].Info()
	}
	return out
}

// Tools returns the tools that a run of p would have, in spec order. It lists the
// program's tool servers and calls nothing else. Warnings name what is missing. It
// returns an error if the tools of a server differ from the pinned ones.
func Tools(ctx context.Context, p *engine.Program, in engine.Input, h engine.Host) (tools []BoundTool, warnings []string, err error) {
	const id = "tools"
	box := &toolbox{}
	alone := *p
	alone.Graph = &graph.Graph[engine.Condition]{Start: id, Nodes: []graph.Node{{ID: id, Type: id}}}
	alone.Nodes = map[string]engine.Node{id: box}
	h.Sinks = nil
	res := Run(ctx, &alone, in, h, Options{})
	if res.StopReason.Code != stop.Answered {
		return nil, res.Warnings, &stop.Error{Reason: res.StopReason}
	}
	return box.tools, res.Warnings, nil
}

// toolbox is a node that collects the tools of its run.
type toolbox struct{ tools []BoundTool }

var _ engine.Node = (*toolbox)(nil)

// Run implements Node.
func (b *toolbox) Run(s engine.Scope) error {
	r := s.(*scope).r // only the runtime runs this node
	for _, info := range r.infos {
		b.tools = append(b.tools, *r.tools[info.Name])
	}
	return nil
}
