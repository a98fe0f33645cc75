package langchain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/call"
)

// exchange is one attempt: a request on its way through the door, and what the
// door reads of its answer. It is the context's, so that one door serves all.
type exchange struct {
	model   *model
	req     *engine.Request
	to      *url.URL
	deltas  func(engine.Delta) // nil = no stream is asked for
	started time.Time

	draft draft
	fault error           // what the door found wrong, which a client may lose
	text  strings.Builder // of a stream
	heard call.Heard
	first time.Duration
}

type exchangeKey struct{}

// door is the transport of all of langchaingo's clients; each request of theirs
// has the context of the exchange that it belongs to.
type door struct{}

// throughDoor is the HTTP client for langchaingo's.
var throughDoor = &http.Client{Transport: door{}}

// RoundTrip implements http.RoundTripper.
func (door) RoundTrip(req *http.Request) (*http.Response, error) {
	x := req.Context().Value(exchangeKey{}).(*exchange)
	resp, err := x.roundTrip(req)
	if err != nil {
		x.fault = err
		return nil, err
	}
	return resp, nil
}

func (x *exchange) roundTrip(req *http.Request) (*http.Response, error) {
	out, err := x.request(req)
	if err != nil {
		return nil, err
	}
	resp, err := x.model.calls.Wire.HTTP().Do(out)
	if err != nil {
		return nil, err
	}
	if x.deltas != nil {
		return x.streamed(resp)
	}
	return x.whole(resp)
}

// request is the client's request as it goes to the server.
func (x *exchange) request(req *http.Request) (*http.Request, error) {
	body := map[string]any{}
	defer req.Body.Close()
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return nil, err
	}
	b := x.model.backend
	b.fields.put(x.req.Params, body)
	if b.patch != nil {
		b.patch(x.req, body)
	}
	maps.Copy(body, x.model.config.ExtraBody)
	text, err := json.Marshal(body)
	if err != nil {
		return nil, badRequest(fmt.Errorf("options.extra_body is no JSON: %w", err))
	}
	out, err := http.NewRequestWithContext(req.Context(), http.MethodPost, x.to.String(), bytes.NewReader(text))
	if err != nil {
		return nil, badRequest(err)
	}
	x.head(out)
	return out, nil
}

// head writes the headers of a request: ours, then the author's. There is
// nothing in those of the clients.
func (x *exchange) head(r *http.Request) {
	r.Header.Set("Content-Type", "application/json")
	if x.req.Key != "" {
		r.Header.Set("Idempotency-Key", x.req.Key)
	}
	switch b := x.model.backend; {
	case x.model.key == "":
	case b.sign != nil:
		b.sign(x.model.key, r)
	default:
		r.Header.Set("Authorization", "Bearer "+x.model.key)
	}
	maps.Copy(r.Header, x.model.header)
}

// whole reads an answer to its end before the client sees it.
func (x *exchange) whole(resp *http.Response) (*http.Response, error) {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	b := x.model.backend
	if err := b.read(text, &x.draft); err != nil {
		return nil, err
	}
	line, err := b.line(text)
	if err != nil {
		return nil, err
	}
	return answered(resp, io.NopCloser(line)), nil
}

// line is an answer on one line, as some of the clients read line by line.
func (b *backend) line(answer []byte) (io.Reader, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(answer, &all); err != nil {
		return nil, err
	}
	for _, name := range b.spared {
		delete(all, name)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // which would make it longer
	return &out, e.Encode(all)
}

// answered is an answer as the client sees it: it was 200, whatever it was.
func answered(resp *http.Response, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: resp.Header, Body: body}
}
