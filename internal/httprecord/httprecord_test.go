package httprecord_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/httprecord"
)

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		shown  string // expected part of the file
	}{
		{"text", []string{"{\"a\": 1}\n"}, "text/plain\n\n{\"a\": 1}\n"},
		{"without a newline at its end", []string{`{"a": 1}`}, "Body-Pieces: 8\nContent-Type: text/plain\n\n{\"a\": 1}\n"},
		{"in pieces", []string{"data: 1\n", "\n", "data: 2\n\n"}, "Body-Pieces: 8 1 9\nContent-Type: text/plain\n\ndata: 1\n\ndata: 2\n\n"},
		{"pieces within a letter", []string{"gr\xc3", "\xbc\xc3\x9f"}, "Body-Pieces: 3 3\nContent-Type: text/plain\n\ngrüß\n"},
		{"lines that end in CR LF", []string{"data: 1\r\n\r\n"}, "\ndata: 1\r\n\r\n"},
		{"frames", []string{"\x00\x00\x00\x10", "\xff\xfe"}, "Body-Encoding: base64\nContent-Type: text/plain\n\nAAAAEA==\n//4=\n"},
		{"what the file would take for its own", []string{"-- 2.request --\n"}, "Body-Encoding: base64\nContent-Type: text/plain\n\nLS0g"},
		{"a part without a name", []string{"a\n-- --\n"}, "Body-Encoding: base64\n"},
		{"newlines in front", []string{"\n\n", "x\n"}, "Body-Pieces: 2 2\nContent-Type: text/plain\n\n\n\nx\n"},
		{"nothing", nil, "200\nContent-Type: text/plain\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := recording("one")
			want.Exchanges[0].Response.Pieces = nil
			for _, p := range c.pieces {
				want.Exchanges[0].Response.Pieces = append(want.Exchanges[0].Response.Pieces, []byte(p))
			}
			text := want.Format()
			if !strings.Contains(string(text), c.shown) {
				t.Errorf("the file is %s, without %q", text, c.shown)
			}
			got, err := httprecord.Parse(text)
			if err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// recording returns a recording with one exchange per body.
func recording(asked ...string) *httprecord.Recording {
	r := &httprecord.Recording{Origin: "a test", Date: "2026-11-21", BaseURL: "http://x.test/v1", Model: "m", Noise: true, Note: "Two lines\nof note."}
	for _, body := range asked {
		r.Exchanges = append(r.Exchanges, httprecord.Exchange{
			Request:  httprecord.Request{Method: "POST", Path: "/v1/chat?x=1", Header: http.Header{"Accept": {"*/*"}}, Body: []byte(body + "\n")},
			Response: httprecord.Response{Status: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Pieces: [][]byte{[]byte("for " + body + "\n")}},
		})
	}
	return r
}

func TestInvalidFiles(t *testing.T) {
	const good = "origin: x\n-- 1.request --\nPOST /v1\n-- 1.response --\n200\n"
	if _, err := httprecord.Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nobody answered", strings.Replace(good, "origin: x\n", "", 1), "missing required field origin"},
		{"a field that is none", "orgin: x\n" + good, `unknown field "orgin: x"`},
		{"no exchange", "origin: x\n", "0 parts"},
		{"no answer", strings.SplitAfter(good, "/v1\n")[0], "1 parts"},
		{"no name", strings.Replace(good, "1.request ", "", 1), "has no name"},
		{"out of order", strings.Replace(good, "1.resp", "2.resp", 1), "instead of 1.request and 1.response"},
		{"no method", strings.Replace(good, "POST ", "", 1), "invalid request"},
		{"no status", strings.Replace(good, "200", "OK", 1), "invalid status"},
		{"no header", good + "what is this\n", "invalid header"},
		{"pieces that are too many", good + "Body-Pieces: 3 9\n\nabcdef\n", "is not a valid piece"},
		{"pieces that are too few", good + "Body-Pieces: 3\n\nabcdef\n", "the pieces have 3 bytes"},
		{"a negative piece", good + "Body-Pieces: -1\n\nabcdef\n", "is not a valid piece"},
		{"no base64", good + "Body-Encoding: base64\n\n???\n", "illegal base64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := httprecord.Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWriteRejectsKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		put  func(*httprecord.Recording)
	}{
		{"in a body", func(r *httprecord.Recording) {
			r.Exchanges[0].Response.Pieces = [][]byte{[]byte(`{"message": "bad key ` + "sk-" + `proj-abcdefghijk123456"}`)}
		}},
		{"under a name", func(r *httprecord.Recording) {
			r.Exchanges[0].Request.Body = []byte(`{"api_key": "q8Zr2LmX0vT5yB7nKd3W"}`)
		}},
		{"in pieces of what is no text", func(r *httprecord.Recording) {
			r.Exchanges[0].Response.Pieces = [][]byte{[]byte("\x00 AKIA"), []byte("ABCDEFGHIJKLMNOP")}
		}},
		{"in the address", func(r *httprecord.Recording) { r.Exchanges[0].Request.Path += "&key=AIza" + strings.Repeat("a1B2c", 7) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.txtar")
			r := recording("one")
			c.put(r)
			if changed, err := r.Write(path); err == nil || changed || !strings.Contains(err.Error(), "not written, because") {
				t.Errorf("written %v, %v", changed, err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the file is there")
			}
		})
	}
}

func TestWriteReportsChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "of", "openai", "text.txtar")
	for _, c := range []struct {
		body    string
		changed bool
	}{{"one", true}, {"one", false}, {"two", true}} {
		changed, err := recording(c.body).Write(path)
		if err != nil || changed != c.changed {
			t.Errorf("%s: changed %v, %v", c.body, changed, err)
		}
		got, err := httprecord.Read(path)
		if diff := cmp.Diff(recording(c.body), got); err != nil || diff != "" {
			t.Errorf("%v: %s", err, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(recording("one", "two").Format())
	f.Add([]byte("origin: x\n-- 1.request --\nPOST /v1\n-- 1.response --\n200\nBody-Pieces: 0 1\n\nab\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := httprecord.Parse(text)
		if err != nil {
			return
		}
		again, err := httprecord.Parse(r.Format())
		if err != nil {
			t.Fatalf("%v in %s", err, r.Format())
		}
		if string(again.Format()) != string(r.Format()) {
			t.Errorf("written %s, then %s", r.Format(), again.Format())
		}
	})
}
