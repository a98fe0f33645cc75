package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/problem"
)

// operations registers the operations of a server.
type operations struct {
	huma.API
	server *server
}

// reply writes a response.
type reply func(w http.ResponseWriter, r *http.Request)

// output is the result of an operation for huma, which only calls Body.
type output struct {
	Body func(huma.Context)
}

// describe is the documentation of an operation.
type describe struct {
	id, method, path, tag, summary, text string
	responses                            map[int]any                // a value of the type of the body, by status; nil = none
	streams                              bool                       // 200 may also be a feed
	problems                             []int                      // statuses
	body                                 map[string]*huma.MediaType // that handle's reply reads; nil = the Body of its input
}

// add registers an operation. The error of handle becomes a problem.
func add[I any](a *operations, d describe, handle func(context.Context, *I) (reply, error)) {
	op := huma.Operation{
		OperationID: d.id, Method: d.method, Path: d.path, Tags: []string{d.tag}, Summary: d.summary, Description: d.text,
		Responses: a.responses(d), MaxBodyBytes: -1, BodyReadTimeout: -1, // both are the listener's
		RejectUnknownQueryParameters: true,
	}
	huma.Register(a.API, op, func(ctx context.Context, in *I) (*output, error) {
		respond, err := handle(ctx, in)
		return &output{func(c huma.Context) {
			r, w := humago.Unwrap(c)
			if err != nil {
				a.server.Fail(w, r, err)
				return
			}
			respond(w, r)
		}}, nil
	})
	if d.body != nil { // huma does not read it
		a.OpenAPI().Paths[d.path].Post.RequestBody = &huma.RequestBody{Content: d.body, Required: true}
	}
}

// responses documents the responses of an operation.
func (a *operations) responses(d describe) map[string]*huma.Response {
	schemas := a.OpenAPI().Components.Schemas
	out := map[string]*huma.Response{}
	for status, body := range d.responses {
		r := &huma.Response{Description: http.StatusText(status)}
		switch body := body.(type) {
		case nil:
		case mediaType:
			r.Content = map[string]*huma.MediaType{string(body): {Schema: &huma.Schema{Type: huma.TypeString}}}
		default:
			r.Content = map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeOf(body), true, "")}}
		}
		if d.streams && status == http.StatusOK {
			if r.Content == nil {
				r.Content = map[string]*huma.MediaType{}
			}
			for _, format := range []string{"text/event-stream", "application/jsonl"} {
				r.Content[format] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: "Events; see the operation watchRun."}}
			}
		}
		out[strconv.Itoa(status)] = r
	}
	for _, status := range d.problems {
		out[strconv.Itoa(status)] = problemResponse(http.StatusText(status))
	}
	out["default"] = problemResponse("Any problem")
	return out
}

func problemResponse(text string) *huma.Response {
	return &huma.Response{Description: text, Content: map[string]*huma.MediaType{
		problem.ContentType: {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}},
	}}
}

// mediaType is the body of a documented response that is not JSON.
type mediaType string

// replyJSON responds with a value as the command line prints it.
func replyJSON(status int, v any) (reply, error) {
	b, err := jsonvalue.MarshalIndent(v)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, status, append(b, '\n')) }, nil
}

// replyAt is replyJSON with the place of a run.
func replyAt(status int, run string, v any) (reply, error) {
	respond, err := replyJSON(status, v)
	return at(run, respond), err
}

// at adds the place of a run to a response.
func at(run string, respond reply) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", locationOf(run))
		respond(w, r)
	}
}

func replyBytes(contentType string, b []byte) reply {
	return func(w http.ResponseWriter, _ *http.Request) { writeBody(w, http.StatusOK, contentType, b) }
}

func replyEmpty(status int) reply {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func writeJSON(w http.ResponseWriter, status int, b []byte) {
	writeBody(w, status, "application/json", b)
}

func writeBody(w http.ResponseWriter, status int, contentType string, b []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may be gone
}

func locationOf(run string) string { return "/v1/runs/" + run }
