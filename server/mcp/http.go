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
	return problem.Form{Body: func(p *problem.Problem) (string, []byte) {
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
