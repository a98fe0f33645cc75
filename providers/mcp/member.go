package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
)

// Keys in the _meta of a call.
const (
	metaKey         = "pexctl/idempotencyKey"
	metaContext     = "pexctl/context" // of a guided step
	maxContextBytes = 64 << 10
)

// member is one tool of a server, as defined when the run started.
type member struct {
	server      *server
	def         tool.Definition
	fingerprint map[string]string
}

var _ tool.Tool = (*member)(nil)

// Info implements tool.Tool.
func (m *member) Info() tool.Info {
	return tool.Info{
		Name: tool.MemberName(m.server.info.Name, m.def.Name), Description: m.def.Description,
		Input: m.def.Input, Effect: tool.WriteEffect,
	}
}

// Call implements tool.Tool.
func (m *member) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, tool.Definite(err)
	}
	args := map[string]json.RawMessage{} // never nil: servers do not accept null
	if len(call.Args) > 0 {
		if err := json.Unmarshal(call.Args, &args); err != nil || args == nil {
			return nil, errors.New("the arguments are not a JSON object")
		}
	}
	ctx = tracecontext.Below(ctx, tracecontext.MCPKind)
	l, err := m.server.managerFor(call)
	if err != nil {
		return nil, err
	}
	out, err := l.call(ctx, m, call, args)
	if errors.Is(err, errSessionExpired) { // the server did not process the call, so retry in a new session
		out, err = l.call(ctx, m, call, args)
	}
	return out, err
}

// call makes a call in the current or a new session.
func (l *connManager) call(ctx context.Context, m *member, call *tool.Call, args map[string]json.RawMessage) (*tool.Output, error) {
	s, err := l.session(ctx)
	if err != nil {
		return nil, tool.Definite(err)
	}
	now, err := s.currentTool(m, call.Redacted)
	if err != nil {
		return nil, tool.Definite(err)
	}
	u, err := s.calls.begin(ctx, call)
	if err != nil {
		return nil, tool.Definite(fmt.Errorf("the call was stopped before it started: %w", err))
	}
	defer s.calls.end(u)
	out, err := s.callTool(u, now, args)
	if call.Report != nil {
		call.Report(s.describe(m, err))
	}
	if err == nil || serverError(err) != nil {
		l.recordSuccess()
	}
	return out, err
}

// callTool sends the call.
func (s *session) callTool(u *openCall, now knownTool, args map[string]json.RawMessage) (*tool.Output, error) {
	if now.synth != nil {
		return now.synth(u.ctx, s, args)
	}
	params := &sdk.CallToolParams{Name: now.def.Name, Arguments: args}
	params.Meta = meta(u.ctx, u.call)
	params.SetProgressToken(u.token)
	var res *sdk.CallToolResult
	err := s.multiRound(u.ctx, func(answers sdk.InputResponseMap, state string) (sdk.InputRequestMap, string, error) {
		again := *params
		again.InputResponses, again.RequestState = answers, state
		var err error
		if res, err = s.client.CallTool(u.ctx, &again); err != nil {
			return nil, "", err
		}
		return res.InputRequests, res.RequestState, nil
	})
	if err != nil {
		return nil, err
	}
	return toOutput(res)
}

// meta returns the _meta of a call.
func meta(ctx context.Context, call *tool.Call) sdk.Meta {
	m := traceMeta(ctx)
	if call.Key != "" {
		m[metaKey] = call.Key
	}
	if call.Context != nil {
		m[metaContext] = call.Context.JSON(maxContextBytes)
	}
	return m
}

// currentTool returns the server's current tool if its definition is unchanged since the run started. redact redacts a
// definition as the run did; nil redacts nothing.
func (s *session) currentTool(m *member, redact func(tool.Definition) tool.Definition) (knownTool, error) {
	s.mu.Lock()
	now, ok := s.known[m.def.Name]
	s.mu.Unlock()
	if !ok {
		return knownTool{}, fmt.Errorf("the server no longer has tool %s, which it had when the run started; continue without it", m.def.Name)
	}
	var changed []string
	def := now.def
	if redact != nil {
		def = redact(def)
	}
	after := fingerprint(def)
	for _, part := range slices.Sorted(maps.Keys(after)) {
		if after[part] != m.fingerprint[part] {
			changed = append(changed, part)
		}
	}
	if len(changed) > 0 {
		return knownTool{}, fmt.Errorf("the server changed tool %s after the run started: its %s; the call was not made. Continue without it; a new run uses the changed tool",
			m.def.Name, strings.Join(changed, ", "))
	}
	return now, nil
}
