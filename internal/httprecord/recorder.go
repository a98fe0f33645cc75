package httprecord

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
)

// Recorder forwards requests to a server and records the exchanges. It is safe for concurrent use.
type Recorder struct {
	server http.RoundTripper

	mu        sync.Mutex
	exchanges []Exchange
	owner     map[string]string // values of headers that identify the owner of a key
}

var _ http.RoundTripper = (*Recorder)(nil)

// NewRecorder returns a recorder of a server.
func NewRecorder(server http.RoundTripper) *Recorder {
	return &Recorder{server: server, owner: map[string]string{}}
}

// RoundTrip implements http.RoundTripper. It reads the whole response, in the pieces in which it arrives, before it
// returns. An incomplete response is an error and not recorded.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	asked, err := recordRequest(req)
	if err != nil {
		return nil, err
	}
	resp, err := r.server.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	pieces, err := readPieces(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("record the answer: %w", err)
	}
	x := Exchange{Request: asked, Response: Response{Status: resp.StatusCode, Header: pickHeaders(resp.Header, answerHeaders), Pieces: pieces}}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range owners {
		for i, value := range resp.Header[name] {
			r.owner[fmt.Sprintf("%s %d", name, i)] = value
		}
	}
	r.exchanges = append(r.exchanges, x)
	return x.Response.http(req), nil
}

// recordRequest returns the recorded part of a request, whose body remains readable.
func recordRequest(req *http.Request) (Request, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return Request{}, err
		}
		_ = req.Body.Close()
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return Request{Method: req.Method, Path: req.URL.RequestURI(), Header: recordedRequestHeaders(req.Header), Body: normalizeJSON(body)}, nil
}

// readPieces returns a body in the pieces in which it arrives.
func readPieces(from io.Reader) (pieces [][]byte, err error) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			pieces = append(pieces, bytes.Clone(buffer[:n]))
		}
		if errors.Is(err, io.EOF) {
			return pieces, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// http converts a recorded response.
func (r Response) http(req *http.Request) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)), StatusCode: r.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.Header.Clone(), Body: &pieceReader{pieces: slices.Clone(r.Pieces)}, ContentLength: -1, Request: req,
	}
}

// pieceReader returns at most one piece per read.
type pieceReader struct{ pieces [][]byte }

func (p *pieceReader) Read(to []byte) (int, error) {
	if len(p.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.pieces[0])
	if p.pieces[0] = p.pieces[0][n:]; len(p.pieces[0]) == 0 {
		p.pieces = p.pieces[1:]
	}
	return n, nil
}

func (p *pieceReader) Close() error { return nil }
