package serve

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// sessionTimeout is how long a session may be idle.
	sessionTimeout = time.Hour
	// maxSessions limits the open sessions, and maxOfClient those of one client.
	maxSessions = 1000
	maxOfClient = 250
)

const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

// Handler serves the protocol over streamable HTTP. Requests must be authenticated, and their
// bodies limited, before.
func (s *Server) Handler() http.Handler {
	of := func(o sdk.StreamableHTTPOptions) http.Handler {
		o.DisableLocalhostProtection, o.MaxRequestBodyBytes = true, -1
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.mcp }, &o)
	}
	calls := of(sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	sessions := of(sdk.StreamableHTTPOptions{SessionTimeout: sessionTimeout})
	return s.identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		opens := r.Method == http.MethodPost && r.Header.Get(sessionHeader) == ""
		switch isNew, err := isSessionlessRequest(r); {
		case err != nil:
			http.Error(w, "the request body could not be read", http.StatusBadRequest)
		case isNew:
			calls.ServeHTTP(w, r)
		case opens && s.isFull(s.user(r.Context())):
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		default:
			sessions.ServeHTTP(w, r)
			if id := w.Header().Get(sessionHeader); opens && id != "" {
				s.setOwner(id, s.user(r.Context()))
			}
		}
	}))
}

// isSessionlessRequest reports whether a request belongs to a protocol without sessions: its
// header or its body says so.
func isSessionlessRequest(r *http.Request) (bool, error) {
	if r.Header.Get(versionHeader) >= sessionless {
		return true, nil
	}
	if r.Method != http.MethodPost {
		return false, nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte(`"`+sdk.MetaKeyProtocolVersion+`"`)), err
}

// isFull reports whether a client can open no further session. It forgets the owners of sessions
// that have ended.
func (s *Server) isFull(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, own, owners := 0, 0, map[string]string{}
	for session := range s.mcp.Sessions() {
		n++
		if owner, ok := s.owners[session.ID()]; ok {
			owners[session.ID()] = owner
			if owner == user {
				own++
			}
		}
	}
	s.owners = owners
	return n >= maxSessions || user != "" && own >= maxOfClient
}

func (s *Server) setOwner(session, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owners[session] = user
}

// user identifies the client of a request; "" = clients are not distinguished.
func (s *Server) user(ctx context.Context) string {
	if s.o.User == nil {
		return ""
	}
	return s.o.User(ctx)
}

// contextKey is the name of the context of an HTTP request in what the protocol's library
// knows about its token.
const contextKey = "context"

// identify binds sessions to the client that opened them.
func (s *Server) identify(next http.Handler) http.Handler {
	known := auth.RequireBearerToken(func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: s.o.User(ctx), Extra: map[string]any{contextKey: ctx}}, nil // it was verified before
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.user(r.Context()) != "" {
			known.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// requestContext is the context of a request within a session, with the values of its HTTP
// request: that of the session has those of the first one.
type requestContext struct {
	context.Context
	http context.Context
}

// Value implements context.Context.
func (c requestContext) Value(key any) any {
	if v := c.http.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// clientContext returns the context of a request with the identity of its client.
func clientContext(ctx context.Context, req sdk.Request) context.Context {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return ctx
	}
	if of, ok := extra.TokenInfo.Extra[contextKey].(context.Context); ok {
		return requestContext{ctx, of}
	}
	return ctx
}
