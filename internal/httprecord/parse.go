package httprecord

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Parse parses a recording.
func Parse(text []byte) (*Recording, error) {
	if unnamed.Match(text) {
		return nil, errors.New("a part has no name: the first is 1.request, the next 1.response")
	}
	a := txtar.Parse(text)
	r := &Recording{}
	if err := r.head(string(a.Comment)); err != nil {
		return nil, err
	}
	if len(a.Files) == 0 || len(a.Files)%2 != 0 {
		return nil, fmt.Errorf("%d parts: each request needs its response, in pairs from 1.request and 1.response", len(a.Files))
	}
	for i := 0; i < len(a.Files); i += 2 {
		x, err := pair(i/2+1, a.Files[i], a.Files[i+1])
		if err != nil {
			return nil, err
		}
		r.Exchanges = append(r.Exchanges, x)
	}
	return r, nil
}

// head parses the lines before the first part: fields, an empty line, a note.
func (r *Recording) head(text string) error {
	fields, note, _ := strings.Cut(text, "\n\n")
	r.Note = strings.TrimSpace(note)
	for line := range strings.Lines(fields) {
		name, value, found := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case name == "origin":
			r.Origin = value
		case name == "date":
			r.Date = value
		case name == "base_url":
			r.BaseURL = value
		case name == "model":
			r.Model = value
		case name == "words" && value == "noise":
			r.Noise = true
		case !found && name == "":
		default:
			return fmt.Errorf("unknown field %q: use origin, date, base_url, model and words: noise, then an empty line before a note", strings.TrimSpace(line))
		}
	}
	if r.Origin == "" {
		return errors.New("missing required field origin, the server that responded")
	}
	return nil
}

func pair(n int, req, resp txtar.File) (x Exchange, err error) {
	if req.Name != fmt.Sprintf("%d.request", n) || resp.Name != fmt.Sprintf("%d.response", n) {
		return x, fmt.Errorf("found parts %s and %s instead of %d.request and %d.response", req.Name, resp.Name, n, n)
	}
	first, header, pieces, err := parseMessage(req.Data)
	if err != nil {
		return x, fmt.Errorf("%s: %w", req.Name, err)
	}
	method, path, found := strings.Cut(first, " ")
	if !found || !strings.HasPrefix(path, "/") {
		return x, fmt.Errorf("%s: invalid request %q: it must start like POST /v1/messages", req.Name, first)
	}
	x.Request = Request{Method: method, Path: path, Header: header, Body: bytes.Join(pieces, nil)}
	first, header, pieces, err = parseMessage(resp.Data)
	if err != nil {
		return x, fmt.Errorf("%s: %w", resp.Name, err)
	}
	status, err := strconv.Atoi(first)
	if err != nil || status < 100 || status > 999 {
		return x, fmt.Errorf("%s: invalid status %q: a response must start like 200", resp.Name, first)
	}
	x.Response = Response{Status: status, Header: header, Pieces: pieces}
	return x, nil
}

// parseMessage parses the output of message.
func parseMessage(data []byte) (first string, header http.Header, pieces [][]byte, err error) {
	head, body, _ := bytes.Cut(data, []byte("\n\n"))
	header = http.Header{}
	for i, line := range strings.Split(strings.TrimSuffix(string(head), "\n"), "\n") {
		if i == 0 {
			first = line
			continue
		}
		name, value, found := strings.Cut(line, ": ")
		if !found {
			return "", nil, nil, fmt.Errorf("invalid header %q: add an empty line before the body", line)
		}
		header.Add(name, value)
	}
	encoding, cuts := header.Get(encodingHeader), header.Get(piecesHeader)
	header.Del(encodingHeader)
	header.Del(piecesHeader)
	if encoding == "base64" {
		pieces, err = decodePieces(string(body))
	} else {
		pieces, err = splitBody(body, cuts)
	}
	return first, header, pieces, err
}

// decodePieces parses the output of lines.
func decodePieces(text string) (pieces [][]byte, err error) {
	for line := range strings.Lines(text) {
		piece, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		if len(piece) > 0 {
			pieces = append(pieces, piece)
		}
	}
	return pieces, nil
}

// splitBody splits a body as its header says. The newline at the end of each part of a file is not included.
func splitBody(body []byte, where string) ([][]byte, error) {
	if where == "" {
		if len(body) == 0 {
			return nil, nil
		}
		return [][]byte{body}, nil
	}
	var at []int
	total := 0
	for word := range strings.FieldsSeq(where) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > len(body)-total {
			return nil, fmt.Errorf("%s: %q of %d bytes is not a valid piece: remove the header to send the body as one piece", piecesHeader, word, len(body))
		}
		at = append(at, n)
		total += n
	}
	if rest := string(body[total:]); rest != "" && rest != "\n" {
		return nil, fmt.Errorf("%s: the pieces have %d bytes, but the body has %d: remove the header to send the body as one piece", piecesHeader, total, len(body))
	}
	return cut(body, at), nil
}
