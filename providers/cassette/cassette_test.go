package cassette_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/providers/cassette"
)

// records returns a small run whose tool returned a text.
func records(result string) []journal.Record {
	body, err := jsonvalue.Marshal(map[string]string{"text": result})
	if err != nil {
		panic(err)
	}
	return []journal.Record{
		{Seq: 1, Kind: journal.Start, Path: "r", WallTime: 1, Body: []byte(`{"input":{}}`)},
		{Seq: 2, Kind: journal.Intent, Class: journal.Read, Attempt: 1, Path: "a/tool", Body: []byte(`{"tool":"t","args":{}}`)},
		{Seq: 3, Kind: journal.Result, Path: "a/tool", Body: body},
		{Seq: 4, Kind: journal.End},
	}
}

func exported(t testing.TB, result string) string {
	t.Helper()
	var b strings.Builder
	if err := cassette.Export(&b, records(result), nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// looksReal has the format of a service's keys.
var looksReal = "ghp_" + strings.Repeat("aB3dE6fH9jK2mN5pQ8", 2)

// fileNames returns the names in a folder.
func fileNames(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCassetteDoesNotNameTheApprover(t *testing.T) {
	recs := records("x")
	recs = slices.Insert(recs, 3,
		journal.Record{Kind: journal.Cancel, WallTime: 1, By: []byte(`{"user":"ann","host":"desk-4"}`)},
		journal.Record{Kind: journal.Answer, Path: "a/tool", WallTime: 1, By: []byte(`{"user":"ann","host":"desk-4"}`), Body: []byte(`{"decision":{"do":"approve"}}`)})
	for i := range recs {
		recs[i].Seq = uint64(i + 1)
	}
	var b bytes.Buffer
	if err := cassette.Export(&b, recs, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "ann") || strings.Contains(b.String(), "desk-4") {
		t.Error(b.String())
	}
	got, err := cassette.Decode(b.Bytes())
	if err != nil || len(got) != len(recs) {
		t.Error(err, len(got))
	}
}

func TestLikelyKeysRejectARecording(t *testing.T) {
	for _, old := range []string{"", "the cassette of yesterday\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "c.jsonl")
		if old != "" {
			if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		inner := &journal.Memory{}
		r, err := cassette.New(inner, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		recs := records("use " + looksReal)
		for i := range recs {
			if _, err := r.Append(recs[i : i+1]); err != nil {
				t.Fatal("the run was harmed:", err)
			}
		}
		for range 2 {
			var refused *cassette.Refused
			if err := r.Close(); !errors.As(err, &refused) || len(refused.Findings) != 1 ||
				refused.Findings[0] != (cassette.Finding{Line: 3, Path: "a/tool", Looks: "a GitHub token"}) || strings.Contains(err.Error(), looksReal[4:]) {
				t.Errorf("%v", err)
			}
		}
		if len(inner.Records) != len(recs) {
			t.Errorf("the journal has %d records", len(inner.Records))
		}
		if old == "" && len(fileNames(t, dir)) != 0 || old != "" && (len(fileNames(t, dir)) != 1 || content(t, path) != old) {
			t.Errorf("left in the folder: %q", fileNames(t, dir))
		}
	}
}

func TestRefusedErrorListsPositionsWithoutSecrets(t *testing.T) {
	recs := records("Authorization: Bearer " + looksReal[4:])
	recs[2].Path = looksReal
	recs[0].Body = []byte(`{"input":{"parameters":{"result":"x"},"api_key":"` + looksReal[4:] + `"}}`)
	recs[3].Status, recs[3].Body = journal.Failed, []byte(`no JSON: `+looksReal)
	var out bytes.Buffer
	err := cassette.Export(&out, recs, nil)
	var refused *cassette.Refused
	if !errors.As(err, &refused) || len(refused.Findings) != 4 || out.Len() != 0 {
		t.Fatalf("%v, written: %q", err, out.String())
	}
	want := "no cassette was written: line 1 (r) holds what looks like credentials of a request; line 3 holds what looks like a GitHub token; " +
		"line 3 holds what looks like credentials of a request; line 4 holds what looks like a GitHub token; " +
		"put the value into an environment variable that the spec names, so that it is replaced, or keep it out of the run"
	if err.Error() != want {
		t.Errorf("%s\nwant\n%s", err, want)
	}
}

// A key known by value is redacted and does not reject the recording.
func TestKnownKeyIsRedactedFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := cassette.Save(path, records("use "+looksReal), secret.New(map[string]string{"GITHUB_TOKEN": looksReal})); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); !strings.Contains(got, `"result":{"text":"use [redacted GITHUB_TOKEN]"}`) {
		t.Error(got)
	}
}

// A secret that is itself JSON is not contained in a single string.
func TestUnredactableSecretIsRefused(t *testing.T) {
	recs := records("x")
	recs[2].Body = []byte(`{"user":"me","password":"hunter"}`)
	err := cassette.Export(&bytes.Buffer{}, recs, secret.New(map[string]string{"LOGIN": `{"user":"me","password":"hunter"}`}))
	if err == nil || !strings.Contains(err.Error(), "line 3 (a/tool) holds the value of LOGIN where it cannot be replaced") {
		t.Error(err)
	}
}

// references encodes requests as a run does: each refers to those before it.
func references(t *testing.T, s *journal.Segments, seq uint64, texts ...string) journal.Record {
	t.Helper()
	body, err := s.Encode(journal.Request{Messages: []journal.Message{{Head: []byte(`{"role":"user"}`), Text: texts}}})
	if err != nil {
		t.Fatal(err)
	}
	return journal.Record{Seq: seq, Kind: journal.Intent, Class: journal.Read, Path: "m", Body: body}
}

// Requests after a change refer to those that still count, redacted or not.
func TestRecordingOfARewoundRun(t *testing.T) {
	recs := records("x")[:1]
	var before, after journal.Segments
	recs = append(recs, references(t, &before, 2, "first ", "canary-1"))
	after.AddRecorded(recs[1].Body)
	recs = append(recs, references(t, &before, 3, "void ", "canary", "-1"), journal.Record{Seq: 4, Kind: journal.Change, Voids: 3, Body: []byte(`{}`)},
		references(t, &after, 5, "first ", "other ", "canary-1"))
	for name, secrets := range map[string]*secret.Values{"nothing redacted": nil, "redacted": secret.New(map[string]string{"C": "canary-1"})} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.jsonl")
			r, err := cassette.New(&journal.Memory{}, path, secrets)
			if err != nil {
				t.Fatal(err)
			}
			for i := range recs {
				if _, err := r.Append(recs[i : i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := cassette.Load(path); err != nil {
				t.Error(err)
			}
			if secrets != nil && strings.Contains(content(t, path), "canary") {
				t.Error(content(t, path))
			}
		})
	}
}

// The recording of a resumed run starts from its beginning, also after a second Load.
func TestResumedRunIsRecordedCompletely(t *testing.T) {
	recs := records("x")
	inner := &journal.Memory{Records: slices.Clone(recs[:2])}
	path := filepath.Join(t.TempDir(), "c.jsonl")
	r, err := cassette.New(inner, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := r.Load(); err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
	}
	if _, err := r.Append(recs[2:]); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != exported(t, "x") {
		t.Error(got)
	}
}

func TestUnwritablePathIsReportedImmediately(t *testing.T) {
	dir := t.TempDir()
	if _, err := cassette.New(&journal.Memory{}, dir, nil); err == nil || !strings.Contains(err.Error(), "exists and is not a regular file") {
		t.Error(err)
	}
	if _, err := cassette.New(&journal.Memory{}, filepath.Join(dir, "none", "c.jsonl"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// failingJournal cannot append. The recording contains only what the journal accepted.
type failingJournal struct{ journal.Memory }

func (failingJournal) Append([]journal.Record) (*journal.Ticket, error) {
	return nil, errors.New("disk on fire")
}

func TestRejectedRecordsAreNotRecorded(t *testing.T) {
	dir := t.TempDir()
	r, err := cassette.New(&failingJournal{}, filepath.Join(dir, "c.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Append(records("x")); err == nil {
		t.Error("the error was swallowed")
	}
	if err := r.Close(); err != nil || len(fileNames(t, dir)) != 0 {
		t.Error(err, fileNames(t, dir))
	}
}

func TestSymbolicLinkIsFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "real"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := cassette.Save(filepath.Join(dir, "link"), records("x"), nil); err != nil {
		t.Fatal(err)
	}
	if content(t, filepath.Join(dir, "real")) != exported(t, "x") || len(fileNames(t, dir)) != 2 {
		t.Error(fileNames(t, dir))
	}
}
