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

// Streams is a provider whose server streams.
type Streams struct {
	// Kind is the Content-Type of a stream.
	Kind string
	// New makes a model of the server at set.BaseURL, with the provider's default
	// options and NoWaits.
	New func(tb testing.TB, set model.Settings) model.Model
}

// Question is what models are asked where the answer is recorded.
var Question = &model.Request{Messages: []model.Message{{Role: model.User, Text: model.Text{"How many?"}}}}

// Calls are tool calls by their ids, names and arguments.
func Calls(idNameArgs ...string) []model.ToolCall {
	var out []model.ToolCall
	for i := 0; i < len(idNameArgs); i += 3 {
		out = append(out, model.ToolCall{ID: idNameArgs[i], Name: idNameArgs[i+1], Args: json.RawMessage(idNameArgs[i+2])})
	}
	return out
}

// Recorded is a file below testdata.
func Recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// Replay is the address of a server with one answer for all, of a Content-Type,
// with more headers by name and value.
func Replay(tb testing.TB, kind string, text []byte, headers ...string) string {
	tb.Helper()
	return answering(tb, func() (string, []byte) { return kind, text }, headers...)
}

func answering(tb testing.TB, answer func() (kind string, text []byte), headers ...string) string {
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

// Heard is a reply with what was heard of it before.
type Heard struct {
	Reply           *model.Reply
	Text, Reasoning string
}

// Hear asks a model for a stream, of which there must be a reply.
func Hear(t *testing.T, m model.Model, req *model.Request) Heard {
	t.Helper()
	var text, reasoning strings.Builder
	reply, err := m.Generate(t.Context(), req, func(d model.Delta) {
		text.WriteString(d.Text)
		reasoning.WriteString(d.Reasoning)
	})
	if err != nil {
		t.Fatal(err)
	}
	return Heard{reply, text.String(), reasoning.String()}
}

// Broken wants a stream to be no answer but an error of a kind, which says some
// text and holds no key.
func (s Streams) Broken(t *testing.T, stream []byte, kind model.ErrorKind, says string, headers ...string) *model.Error {
	t.Helper()
	const key = "sk-a-secret"
	m := s.New(t, model.Settings{APIKey: key, BaseURL: Replay(t, s.Kind, stream, headers...)})
	got, err := m.Generate(t.Context(), Question, func(model.Delta) {})
	var e *model.Error
	if got != nil || !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Message, says) || strings.Contains(e.Message, key) {
		t.Fatalf("reply %+v, error %v", got, err)
	}
	return e
}

// Cuts ends a stream behind each of its bytes: what comes of it is that it was
// truncated, or the whole reply.
func (s Streams) Cuts(t *testing.T, stream []byte) {
	t.Helper()
	cut := stream
	m := s.New(t, model.Settings{BaseURL: answering(t, func() (string, []byte) { return s.Kind, cut })})
	want := Hear(t, m, Question).Reply
	for n := range stream {
		cut = stream[:n]
		got, err := m.Generate(t.Context(), Question, func(model.Delta) {})
		var e *model.Error
		switch {
		case err == nil && got.Text == want.Text && len(got.Calls) == len(want.Calls):
		case errors.As(err, &e) && e.Kind == model.Truncated:
		default:
			t.Fatalf("cut at %d: reply %+v, error %v", n, got, err)
		}
	}
}

// Page wants a page of HTML in the place of a stream to be no reply.
func (s Streams) Page(t *testing.T) {
	t.Helper()
	m := s.New(t, model.Settings{BaseURL: Replay(t, "text/html", []byte("<html>sign in</html>"))})
	_, err := m.Generate(t.Context(), Question, func(model.Delta) {})
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.BadReply || !strings.Contains(e.Message, "text/html") {
		t.Errorf("error %v", err)
	}
}

// Fuzz answers with anything, as a stream and as a whole; it begins with streams
// that are recorded in a folder below testdata.
func (s Streams) Fuzz(f *testing.F, folder string) {
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.sse"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no recorded streams: %v", err)
	}
	for _, name := range files {
		f.Add(Recorded(f, folder+"/"+filepath.Base(name)))
	}
	f.Add([]byte("data: " + strings.Repeat("[", 20000) + "\n\n"))
	var kind string
	var text []byte
	m := s.New(f, model.Settings{BaseURL: answering(f, func() (string, []byte) { return kind, text })})
	f.Fuzz(func(t *testing.T, in []byte) {
		kind, text = s.Kind, in
		got, err := m.Generate(t.Context(), Question, func(model.Delta) {})
		Sound(t, got, err)
		kind = "application/json"
		got, err = m.Generate(t.Context(), Question, nil)
		Sound(t, got, err)
	})
}

// Sound wants a reply whose calls can be made, or a typed error.
func Sound(t *testing.T, got *model.Reply, err error) {
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
