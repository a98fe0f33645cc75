package cassette_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/providers/cassette"
)

func saved(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadReturnsTheRecords(t *testing.T) {
	recs, err := cassette.Load(saved(t, exported(t, "x")))
	if err != nil || !reflect.DeepEqual(recs, records("x")) {
		t.Errorf("%v %+v", err, recs)
	}
}

// Line endings converted by a checkout are not part of the recording.
func TestLoadAcceptsOtherLineEndings(t *testing.T) {
	recs, err := cassette.Load(saved(t, strings.ReplaceAll(exported(t, "x"), "\n", "\r\n")))
	if err != nil || !reflect.DeepEqual(recs, records("x")) {
		t.Errorf("%v %+v", err, recs)
	}
}

// change replaces a part of a text, which must exist.
func change(t testing.TB, text, from, to string) string {
	t.Helper()
	if !strings.Contains(text, from) {
		t.Fatalf("%q is not in %s", from, text)
	}
	return strings.Replace(text, from, to, 1)
}

func TestLoadErrorNamesTheLine(t *testing.T) {
	good := exported(t, "forty two")
	lines := strings.SplitAfter(good, "\n")
	for _, tt := range []struct {
		name, text string
		edited     bool
		want       string
	}{
		{"edited by hand", change(t, good, "forty two", "forty three"), true, "line 3 was changed"},
		{"a line too few", lines[0] + lines[2] + lines[3], true, "line 2 was changed, or lines before it are missing"},
		{"the first line", lines[1], true, "line 1 was changed"},
		{"cut off", good[:len(good)-40], true, "line 4 was changed"},
		{"no cassette at all", "apiVersion: pex/v1\n", true, "line 1 was changed"},
		{"empty", "", false, "it is empty"},
		{"of a later program", resealed(t, change(t, good, `"v":1,"seq":3`, `"v":2,"seq":3`)), false, "line 3"},
		{"without a start", resealed(t, change(t, lines[1], `"seq":2`, `"seq":1`)), false, "line 1: a cassette must start with the start of a run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := saved(t, tt.text)
			recs, err := cassette.Load(path)
			var edited *cassette.EditedError
			if err == nil || errors.As(err, &edited) != tt.edited || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) || recs != nil {
				t.Errorf("%v", err)
			}
			if tt.edited && (!errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "--reseal FILE")) {
				t.Errorf("%v", err)
			}
		})
	}
}

// resealed seals lines as another program might, without checking them.
func resealed(t testing.TB, text string) string {
	t.Helper()
	var out []byte
	var chain journal.Chain
	for line := range strings.Lines(text) {
		body, _, ok := strings.Cut(line, `,"chain":"`)
		if !ok {
			t.Fatal(line)
		}
		var sealed []byte
		sealed, chain = journal.Seal([]byte(body), chain)
		out = append(out, sealed...)
	}
	return string(out)
}

func TestTooLargeFileIsRejected(t *testing.T) {
	path := saved(t, "")
	if err := os.Truncate(path, cassette.MaxSize+1); err != nil { // sparse: it occupies no space
		t.Skip(err)
	}
	if _, err := cassette.Load(path); err == nil || !strings.Contains(err.Error(), "larger than 256 MiB") {
		t.Error(err)
	}
}

func TestDanglingReferencesAreReported(t *testing.T) {
	recs := records("x")
	recs[1].Body = []byte(`{"messages":[7]}`)
	var b bytes.Buffer
	for i, c := 0, (journal.Chain{}); i < len(recs); i++ {
		line, next, err := journal.AppendLine(nil, &recs[i], c)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		c = next
	}
	if _, err := cassette.Decode(b.Bytes()); err == nil || !strings.Contains(err.Error(), "record 2 (a/tool)") {
		t.Error(err)
	}
	if err := cassette.Export(&bytes.Buffer{}, recs, nil); err == nil || !strings.Contains(err.Error(), "record 2") {
		t.Error(err)
	}
}

func TestResealAcceptsEdits(t *testing.T) {
	good := exported(t, "forty two")
	lines := strings.SplitAfter(good, "\n")
	for _, tt := range []struct {
		name, text string
		records    int
		want       string // expected in the result
	}{
		{"nothing", good, 4, `"forty two"`},
		{"a reply", change(t, good, "forty two", "forty three"), 4, `"result":{"text":"forty three"}`},
		{"a line taken out", lines[0] + lines[3], 2, `"seq":2,"kind":"end"`},
		{"spaces, and the order of members", change(t, good, `{"v":1,"seq":3,`, `{ "seq" : 99, "v" : 1 , `), 4, `{"v":1,"seq":3,"kind":"result"`},
		{"without seal and number", lines[0] + `{"kind":"end","at":0}` + "\r\n\n", 2, `{"v":1,"seq":2,"kind":"end","at":0,"chain":`},
		{"a field of a later program", change(t, good, `"seq":3,`, `"seq":3,"new":[1, {"a\n\"":2}],`), 4, `"new":[1,{"a\n\"":2}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := saved(t, tt.text)
			if err := cassette.ResealFile(path); err != nil {
				t.Fatal(err)
			}
			recs, err := cassette.Load(path)
			if err != nil || len(recs) != tt.records || !strings.Contains(content(t, path), tt.want) {
				t.Errorf("%v: %s", err, content(t, path))
			}
			if tt.text == good && content(t, path) != good {
				t.Errorf("changed: %s", content(t, path))
			}
		})
	}
}

func TestResealRejectsInvalidFiles(t *testing.T) {
	good := exported(t, "x")
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "line 1: it is not a JSON object"},
		{"no JSON", good + "hello\n", "line 5: it is not a JSON object"},
		{"broken JSON", change(t, good, `"result":{`, `"result":`), "line 3:"},
		{"an empty line", change(t, good, "\n", "\n\n"), "line 2: it is not a JSON object"},
		{"two objects", change(t, good, "\n", "{}\n"), "line 1: unexpected text after the object"},
		{"bad bytes", change(t, good, `"r"`, "\"\xff\""), "line 1: it is not UTF-8"},
		{"an unknown kind", change(t, good, `"kind":"end"`, `"kind":"finis"`), "line 4"},
		{"no kind", change(t, good, `,"kind":"end"`, ``), "line 4"},
		{"no start", change(t, good, `"kind":"start"`, `"kind":"marker"`), "line 1: a cassette must start with the start of a run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := saved(t, tt.text)
			err := cassette.ResealFile(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v", err)
			}
			var out bytes.Buffer
			if err := cassette.Reseal(strings.NewReader(tt.text), &out); err == nil || out.Len() != 0 {
				t.Errorf("%v, written: %q", err, out.String())
			}
			if content(t, path) != tt.text || len(fileNames(t, filepath.Dir(path))) != 1 {
				t.Error("the file was touched")
			}
		})
	}
}

func FuzzCassette(f *testing.F) {
	good := exported(f, "x")
	f.Add([]byte(good))
	f.Add([]byte(good[:len(good)-30]))
	f.Add([]byte(resealed(f, change(f, good, `{"tool":"t","args":{}}`, `{"new":{"1":"a"},"defs":{"1":{"text":[1,1]}},"messages":[1,[0,1]]}`))))
	f.Add([]byte(resealed(f, change(f, good, `"kind":"end"`, `"kind":"change","voids":2`))))
	f.Fuzz(func(t *testing.T, b []byte) {
		if recs, err := cassette.Decode(b); err == nil {
			if err := cassette.Export(&bytes.Buffer{}, recs, nil); err != nil && !errors.As(err, new(*cassette.Refused)) {
				t.Fatalf("what was loaded cannot be exported: %v", err)
			}
		}
		var sealed bytes.Buffer
		if err := cassette.Reseal(bytes.NewReader(b), &sealed); err == nil {
			if _, err := cassette.Decode(sealed.Bytes()); err != nil {
				t.Fatalf("what was sealed cannot be loaded: %v", err)
			}
		}
	})
}
