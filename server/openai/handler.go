package openai

import (
	"net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
)

// protocol is the name of the protocol in server files.
const protocol = "openai"

// Progress is how a chat completion shows the progress of its run.
type Progress string

// The choices.
const (
	Reasoning Progress = "reasoning" // as reasoning, which chat UIs fold away; the default
	Text      Progress = "text"      // before the answer
	None      Progress = "none"
)

// Options configure a Handler.
type Options struct {
	Access   *access.Server
	MaxBody  int64 // bytes of a request body; 0 = jsonbody.MaxBody
	Progress Progress
	// TrustUserHeaders lets clients with the role admin, such as a chat UI, act for the user
	// that a header names.
	TrustUserHeaders bool
}

// Handler serves the protocol.
type Handler struct {
	o       Options
	mux     *http.ServeMux
	created int64 // of the models
}

// New returns a Handler.
func New(o Options) *Handler {
	if o.Progress == "" {
		o.Progress = Reasoning
	}
	h := &Handler{o: o, mux: http.NewServeMux(), created: time.Now().Unix()}
	for pattern, endpoint := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /v1/models":            h.listModels,
		"GET /v1/models/{model}":    h.getModel,
		"POST /v1/chat/completions": h.chat,

		"POST /v1/responses":                 h.createResponse,
		"GET /v1/responses/{id}":             h.getResponse,
		"POST /v1/responses/{id}/cancel":     h.cancelResponse,
		"DELETE /v1/responses/{id}":          h.deleteResponse,
		"GET /v1/responses/{id}/input_items": h.inputItems,

		"/": notFound,
	} {
		h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := endpoint(w, r); err != nil {
				h.fail(w, r, err)
			}
		})
	}
	return h
}

// prefix is the base of the paths for clients that are not to see the API of pexctl.
const prefix = "/openai"

// Paths returns the paths of the protocol, for server.Route.
func Paths() []string {
	return []string{prefix + "/", "/v1/models", "/v1/models/", "/v1/chat/", "/v1/responses", "/v1/responses/"}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.StripPrefix(prefixOf(r.URL.Path), h.mux).ServeHTTP(w, r)
}

func prefixOf(path string) string {
	if strings.HasPrefix(path, prefix+"/") {
		return prefix
	}
	return ""
}

func notFound(_ http.ResponseWriter, r *http.Request) error {
	return &apiError{status: http.StatusNotFound, code: "unknown_url", message: "unknown request URL: " + r.Method + " " + r.URL.Path}
}

// userHeaders name the user of a chat UI.
var userHeaders = []string{"X-OpenWebUI-User-Email", "X-LibreChat-User-Id"}

// client returns the client of a request, or the user for whom it acts. Without authentication
// no client is trusted.
func (h *Handler) client(r *http.Request) (*access.Client, error) {
	ctx := r.Context()
	id, ok := auth.FromContext(ctx)
	if ok && h.o.TrustUserHeaders && id.Issuer != "" && auth.Can(id, auth.Admin, nil) {
		for _, name := range userHeaders {
			if user := r.Header.Get(name); user != "" {
				id.Subject, id.Issuer = user, id.Issuer+" by "+id.Subject
				ctx = auth.NewContext(ctx, id)
				break
			}
		}
	}
	return h.o.Access.Client(ctx)
}

// reply responds with a JSON object.
func reply(w http.ResponseWriter, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(jsonvalue.Encode(body), '\n')) // the client may be gone
	return nil
}
