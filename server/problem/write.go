package problem

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Form is how the clients of a protocol expect errors.
type Form struct {
	// Body returns the media type and the body of the response to a request with a problem.
	Body func(r *http.Request, p *Problem) (contentType string, body []byte)
	// Status returns its HTTP status; nil = that of the problem.
	Status func(p *Problem) int
	// Header sets further headers of the response; nil = none.
	Header func(h http.Header)
}

// details is the form of RFC 9457.
var details = Form{Body: func(_ *http.Request, p *Problem) (string, []byte) {
	return ContentType, append(jsonvalue.Encode(p), '\n')
}}

type formKey struct{}

// WithForm returns a request whose problems have a form other than RFC 9457.
func WithForm(r *http.Request, f Form) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), formKey{}, f))
}

// Write responds to a request with a problem, in the form of the request. The caller has
// written nothing before.
func Write(w http.ResponseWriter, r *http.Request, p *Problem) {
	form, ok := r.Context().Value(formKey{}).(Form)
	if !ok {
		form = details
	}
	contentType, body := form.Body(r, p)
	status := p.Status()
	if form.Status != nil {
		status = form.Status(p)
	}
	h := w.Header()
	if form.Header != nil {
		form.Header(h)
	}
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}
