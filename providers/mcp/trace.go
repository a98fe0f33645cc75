package mcp

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
)

var _ tool.RemoteCaller = (*member)(nil)

// traceMeta returns a new _meta with the trace that a request carries: the headers of HTTP
// belong to the transport, and a child process has none.
func traceMeta(ctx context.Context) sdk.Meta {
	m, trace := sdk.Meta{}, tracecontext.Outgoing(ctx)
	if trace.Parent != "" {
		m[tracecontext.Header] = trace.Parent
	}
	if trace.State != "" {
		m[tracecontext.StateHeader] = trace.State
	}
	return m
}

// Remote implements tool.RemoteCaller.
func (m *member) Remote() tool.RemoteCall {
	r := tool.RemoteCall{Protocol: "mcp", Method: "tools/call", Target: m.def.Name, Transport: "tcp"}
	if m.def.BuiltIn {
		r.Target = ""
		switch m.def.Name {
		case listResources:
			r.Method = "resources/list"
		case readResource:
			r.Method = "resources/read"
		default:
			r.Method, r.Target = "prompts/get", strings.TrimPrefix(m.def.Name, promptPrefix)
		}
	}
	if m.server.config.URL.Text == "" {
		r.Transport = "pipe"
	}
	return r
}

// describe returns the requests of a call that has ended with err.
func (s *session) describe(m *member, err error) tool.RemoteCall {
	r := m.Remote()
	r.Session = s.client.ID()
	if started := s.client.InitializeResult(); started != nil {
		r.Version = started.ProtocolVersion
	}
	if e, ok := s.manager.target.(*endpoint); ok {
		r.Address, r.Port = addressOf(e.origin)
	}
	if e := serverError(err); e != nil {
		r.Code = strconv.FormatInt(e.Code, 10)
		r.Error = r.Code
	} else if _, ok := errors.AsType[resultError](err); ok {
		r.Error = "tool_error"
	}
	return r
}

// addressOf returns the host and port of a URL.
func addressOf(u *url.URL) (host string, port int) {
	port, err := strconv.Atoi(u.Port())
	switch {
	case err == nil:
	case u.Scheme == "http":
		port = 80
	default:
		port = 443
	}
	return u.Hostname(), port
}
