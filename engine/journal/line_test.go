package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/journal"
)

func TestEveryRecordComesBack(t *testing.T) {
	b, want := sample(t)
	c, err := journal.Decode(b)
	if err != nil || c.Good != len(b) {
		t.Fatal(err, c.Good, len(b))
	}
	same(t, c.Records, want)
}

func TestEveryLineIsJSON(t *testing.T) {
	b, _ := sample(t)
	for line := range bytes.Lines(b) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil || fields["v"] != 1.0 || fields["chain"] == nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestPrettyJSONStaysOnOneLine(t *testing.T) {
	r := journal.Record{Seq: 1, Kind: journal.Result, Path: "ask", Body: []byte("{\n \"a\": 1\n}")}
	line, _, err := journal.AppendLine(nil, &r, journal.Chain{})
	if err != nil || bytes.Count(line, []byte("\n")) != 1 || !bytes.Contains(line, []byte(`"result":{"a":1}`)) {
		t.Fatal(err, string(line))
	}
}

func TestValuesAreEncodedWithoutHTMLEscapes(t *testing.T) {
	r := journal.Record{Seq: 1, Kind: journal.Result, Value: map[string]string{"a": "<b> & c"}}
	line, _, err := journal.AppendLine(nil, &r, journal.Chain{})
	if err != nil || !bytes.Contains(line, []byte(`"result":{"a":"<b> & c"}`)) {
		t.Fatal(err, string(line))
	}
}

func TestValuesAreWrittenAsValidUTF8(t *testing.T) {
	r := journal.Record{Seq: 1, Kind: journal.Result, Value: map[string]any{"a": "x\xff", "b": json.RawMessage("\"y\xff\"")}}
	line, _, err := journal.AppendLine(nil, &r, journal.Chain{})
	if err != nil || !utf8.Valid(line) || !bytes.Contains(line, []byte("\"y\uFFFD\"")) {
		t.Fatalf("%v %q", err, line)
	}
}

func TestWhatHasNoJSONFormIsRefused(t *testing.T) {
	for name, r := range map[string]journal.Record{
		"unknown kind":  {Kind: 99},
		"no kind":       {},
		"class":         {Kind: journal.Intent, Class: 99},
		"negative time": {Kind: journal.End, At: -1},
		"path":          {Kind: journal.End, Path: "\xff"},
		"who":           {Kind: journal.Cancel, By: []byte(`{"user":}`)},
		"who's lines":   {Kind: journal.Cancel, By: []byte("{\n}")},
		"body":          {Kind: journal.Result, Body: []byte("\xff")},
		"value":         {Kind: journal.Result, Value: make(chan int)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := journal.AppendLine(nil, &r, journal.Chain{}); err == nil || !strings.Contains(err.Error(), "no JSON form") {
				t.Fatal(err)
			}
		})
	}
}

// reseal changes a start line and seals it again, as another program would.
func reseal(t *testing.T, from, to string) []byte {
	t.Helper()
	r := journal.Record{Seq: 1, Kind: journal.Start, Path: "p"}
	line, _, err := journal.AppendLine(nil, &r, journal.Chain{})
	if err != nil || !bytes.Contains(line, []byte(from)) {
		t.Fatal(err, from)
	}
	body := strings.Replace(string(line[:len(line)-29]), from, to, 1)
	sealed, _ := journal.Seal([]byte(body), journal.Chain{})
	return sealed
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	for _, field := range []string{`"colour":{"a":["}",1]}`, `"n":-1.5e3`, `"t":true`, `"s":"a\\\",\"seq\":9"`, `"nested":[[{}],"]"]`} {
		c, err := journal.Decode(reseal(t, `"kind"`, field+`,"kind"`))
		if err != nil || len(c.Records) != 1 || c.Records[0].Path != "p" || c.Records[0].Seq != 1 {
			t.Errorf("%s: %v %+v", field, err, c.Records)
		}
	}
}

func TestLaterVersionsAreRefusedByName(t *testing.T) {
	for from, to := range map[string]string{`"v":1`: `"v":2`, `"start"`: `"fork"`} {
		_, err := journal.Decode(reseal(t, from, to))
		if !errors.Is(err, journal.ErrNewer) || errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "later pexctl") {
			t.Errorf("%s: %v", to, err)
		}
	}
}

func TestWellSealedNonsenseIsAnError(t *testing.T) {
	for _, to := range []string{`"at":"x"`, `"at":-`, `"at":1,"seq":`, `"digest":"zz","at":0`, `"path":"\x","at":0`, `}{"at":0`, `"wall":"never","at":0`} {
		if _, err := journal.Decode(reseal(t, `"at":0`, to)); err == nil {
			t.Errorf("%s was read", to)
		}
	}
}
