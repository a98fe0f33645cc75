package exchange

import (
	"bytes"
	"net/http"
)

// Recording is one conversation of a provider with its server.
type Recording struct {
	Origin  string // who answered: "OpenAI", "aimock 1.43.0", "composed from the documentation"
	Date    string // when, as 2006-01-02
	BaseURL string // of the llm, "" = the provider's own; a local server has a name that ends in .test
	Model   string // of the llm
	Noise   bool   // the answers have a form and no meaning: a model of random weights gave them
	Note    string // what else is to be said, in lines of its own

	Exchanges []Exchange
}

// Exchange is a request and its answer.
type Exchange struct {
	Request  Request
	Response Response
}

// Request is what is kept of a request. Headers that carry a key say so, and
// not which.
type Request struct {
	Method string
	Path   string // with its query
	Header http.Header
	Body   []byte // JSON is indented, its names in order
}

// Response is what is kept of an answer: its body in the pieces in which it came.
type Response struct {
	Status int
	Header http.Header
	Pieces [][]byte
}

// Body is all of an answer.
func (r Response) Body() []byte { return bytes.Join(r.Pieces, nil) }

// cut parts a body into pieces of these sizes.
func cut(body []byte, sizes []int) [][]byte {
	var out [][]byte
	for _, n := range sizes {
		out = append(out, body[:n:n])
		body = body[n:]
	}
	return out
}

func sizes(pieces [][]byte) []int {
	var out []int
	for _, p := range pieces {
		out = append(out, len(p))
	}
	return out
}
