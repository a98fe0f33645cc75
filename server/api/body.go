package api

import (
	"bytes"
	"io"
	"net/http"

	"github.com/pexctl/pex/server/jsonbody"
	"github.com/pexctl/pex/server/problem"
)

// checkBody rejects invalid request bodies; see jsonbody.Read.
func checkBody(next http.Handler, limit int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || IsUpload(r) {
			next.ServeHTTP(w, r)
			return
		}
		body, bad := jsonbody.Read(w, r, limit)
		if bad != nil {
			problem.Write(w, r, bad)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
