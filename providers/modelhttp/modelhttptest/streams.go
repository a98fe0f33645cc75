package modelhttptest

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
)

// Streams is a provider with a server that streams.
type Streams struct {
	// Kind is the Content-Type of a stream.
	Kind string
	// New builds a model of the server at set.BaseURL, with the provider's default options and DisableWaits.
	New func(tb testing.TB, set model.Settings) model.Model
}

// Question is the request that belongs to recorded replies.
var Question = &model.Request{Messages: []model.Message{{Role: model.User, Text: model.Text{"How many?"}}}}

// Calls returns tool calls for triples of id, name and arguments.
func Calls(idNameArgs ...string) []model.ToolCall {
	var out []model.ToolCall
	for i := 0; i < len(idNameArgs); i += 3 {
		out = append(out, model.ToolCall{ID: idNameArgs[i], Name: idNameArgs[i+1], Args: json.RawMessage(idNameArgs[i+2])})
	}
	return out
}

// ReadRecorded reads a file below testdata.
func ReadRecorded(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// Replay starts a server that always returns the same response, with headers as pairs of name and value. It returns the
// URL.
func Replay(tb testing.TB, kind string, text []byte, headers ...string) string {
	tb.Helper()
	return serve(tb, func() (string, []byte) { return kind, text }, headers...)
}

func serve(tb testing.TB, answer func() (kind string, text []byte), headers ...string) string {
	tb.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		kind, text := answer()
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = w.Write(text)
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

// StreamedReply is a reply with its concatenated deltas.
type StreamedReply struct {
	Reply           *model.Reply
	Text, Reasoning string
}

// ReadStream streams a reply, which must succeed.
func ReadStream(t *testing.T, m model.Model, req *model.Request) StreamedReply {
	t.Helper()
	var text, reasoning strings.Builder
	reply, err := m.Generate(t.Context(), req, func(d model.Delta) {
		text.WriteString(d.Text)
		reasoning.WriteString(d.Reasoning)
	})
	if err != nil {
		t.Fatal(err)
	}
	return StreamedReply{reply, text.String(), reasoning.String()}
}

// RejectStream checks that a stream causes an error of a kind whose message contains a text but not the key.
func (s Streams) RejectStream(t *testing.T, stream []byte, kind model.ErrorKind, message string, headers ...string) *model.Error {
	t.Helper()
	const key = "sk-a-secret"
	m := s.New(t, model.Settings{APIKey: key, BaseURL: Replay(t, s.Kind, stream, headers...)})
	got, err := m.Generate(t.Context(), Question, func(model.Delta) {})
	var e *model.Error
	if got != nil || !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Message, message) || strings.Contains(e.Message, key) {
		t.Fatalf("reply %+v, error %v", got, err)
	}
	return e
}

// CheckTruncations truncates a stream after each byte. The result must be the error Truncated or the complete reply.
func (s Streams) CheckTruncations(t *testing.T, stream []byte) {
	t.Helper()
	part := stream
	m := s.New(t, model.Settings{BaseURL: serve(t, func() (string, []byte) { return s.Kind, part })})
	want := ReadStream(t, m, Question).Reply
	for n := range stream {
		part = stream[:n]
		got, err := m.Generate(t.Context(), Question, func(model.Delta) {})
		var e *model.Error
		switch {
		case err == nil && got.Text == want.Text && len(got.Calls) == len(want.Calls):
		case errors.As(err, &e) && e.Kind == model.Truncated:
		default:
			t.Fatalf("truncated at %d: reply %+v, error %v", n, got, err)
		}
	}
}

// CheckHTML checks that an HTML page instead of a stream is an error.
func (s Streams) CheckHTML(t *testing.T) {
	t.Helper()
	m := s.New(t, model.Settings{BaseURL: Replay(t, "text/html", []byte("<html>sign in</html>"))})
	_, err := m.Generate(t.Context(), Question, func(model.Delta) {})
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.BadReply || !strings.Contains(e.Message, "text/html") {
		t.Errorf("error %v", err)
	}
}

// Fuzz returns arbitrary data as a stream and as a whole reply. The seeds are the streams recorded in a folder below
// testdata.
func (s Streams) Fuzz(f *testing.F, folder string) {
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.sse"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no recorded streams: %v", err)
	}
	for _, name := range files {
		f.Add(ReadRecorded(f, folder+"/"+filepath.Base(name)))
	}
	f.Add([]byte("data: " + strings.Repeat("[", 20000) + "\n\n"))
	var kind string
	var text []byte
	m := s.New(f, model.Settings{BaseURL: serve(f, func() (string, []byte) { return kind, text })})
	f.Fuzz(func(t *testing.T, in []byte) {
		kind, text = s.Kind, in
		got, err := m.Generate(t.Context(), Question, func(model.Delta) {})
		CheckResult(t, got, err)
		kind = "application/json"
		got, err = m.Generate(t.Context(), Question, nil)
		CheckResult(t, got, err)
	})
}

// CheckResult checks that there is either a reply with valid calls or a typed error.
func CheckResult(t *testing.T, got *model.Reply, err error) {
	t.Helper()
	var e *model.Error
	if (got == nil) == (err == nil) || err != nil && !errors.As(err, &e) {
		t.Errorf("reply %+v, error %v", got, err)
	}
	if got == nil {
		return
	}
	for _, c := range got.Calls {
		if c.Name == "" || c.ID == "" || len(c.Args) == 0 || len(c.Opaque) > 0 && !json.Valid(c.Opaque) {
			t.Errorf("call %+v", c)
		}
	}
}
