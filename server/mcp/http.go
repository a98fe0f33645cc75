package mcp

import (
	"bytes"
	"io"
	"net/http"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/jsonbody"
	"github.com/pexctl/pex/server/problem"
)

// Path is where the protocol is served.
const Path = "/mcp"

// wellKnown is where clients look for the metadata of a resource (RFC 9728).
const wellKnown = "/.well-known/oauth-protected-resource"

// MetadataPaths are the paths of Metadata.
func MetadataPaths() []string { return []string{wellKnown, wellKnown + Path} }

// MetadataURL returns a function that returns the address of the metadata for a request; "" =
// the request is not for the protocol.
func MetadataURL(s *access.Server) func(*http.Request) string {
	return func(r *http.Request) string {
		if r.URL.Path != Path {
			return ""
		}
		return s.Origin(r) + wellKnown + Path
	}
}

// Metadata tells clients which issuer's tokens the server accepts (RFC 9728). issuer returns
// its URL; "" = none, and then there is no metadata.
func Metadata(s *access.Server, issuer func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*") // it is public
		url := issuer()
		if url == "" {
			problem.Write(w, r, problem.New(problem.NotFound, "the server has no issuer of tokens; use a token of the server"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(jsonvalue.Encode(map[string]any{ // the client may be gone
			"resource": s.Origin(r) + Path, "authorization_servers": []string{url}, "bearer_methods_supported": []string{"header"},
		}))
	})
}

// Limit reads the bodies of requests strictly, at most limit bytes, and counts open event
// streams among those of the server.
func Limit(s *access.Server, limit int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, bad := jsonbody.Read(w, r, limit)
		if bad != nil {
			problem.Write(w, r, bad)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodGet {
			c, err := s.Client(r.Context())
			if err != nil {
				s.Fail(w, r, err)
				return
			}
			stream, err := c.OpenStream(r.Context())
			if err != nil {
				s.Fail(w, r, err)
				return
			}
			defer stream.Release()
			r = r.WithContext(stream.Context)
		}
		next.ServeHTTP(w, r)
	})
}

// The codes of JSON-RPC for problems.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeInternal       = -32603
)

// Form returns how the protocol reports problems: as errors of JSON-RPC. They are about
// requests whose id is not known.
func Form() problem.Form {
	return problem.Form{Body: func(_ *http.Request, p *problem.Problem) (string, []byte) {
		code := codeInvalidRequest
		switch {
		case p.Code == problem.InvalidJSON:
			code = codeParse
		case p.Status() >= http.StatusInternalServerError:
			code = codeInternal
		}
		type rpcError struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    any    `json:"data"`
		}
		return "application/json", jsonvalue.Encode(struct {
			Version string   `json:"jsonrpc"`
			ID      any      `json:"id"`
			Error   rpcError `json:"error"`
		}{"2.0", nil, rpcError{code, p.Detail, p}})
	}}
}
