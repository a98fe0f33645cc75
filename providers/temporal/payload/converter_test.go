package payload_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"

	"github.com/pexctl/pex/providers/temporal/payload"
)

type sample struct {
	Text string          `json:"text"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

func TestValuesKeepTheirBytes(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{[]byte("\xff<>&\x00"), "\xff<>&\x00"},
		{[]byte(nil), ""},
		{json.RawMessage(`{"b": "<&>",  "a":1}`), `{"b": "<&>",  "a":1}`},
		{sample{Text: "<&>\u2028"}, `{"text":"<&>\u2028"}`},
		{&sample{Raw: json.RawMessage(`{"a":"<"}`)}, `{"text":"","raw":{"a":"<"}}`},
		{"é", `"é"`},
		{json.RawMessage(nil), "null"},
	} {
		p, err := payload.Values().ToPayload(c.value)
		if err != nil || string(p.Data) != c.want {
			t.Errorf("%#v is %q, %v; want %q", c.value, p.GetData(), err, c.want)
		}
	}
	if _, err := payload.Values().ToPayload(json.RawMessage("{")); err == nil {
		t.Error("invalid JSON is a payload")
	}
	if _, err := payload.Values().ToPayload(func() {}); err == nil {
		t.Error("a function is a payload")
	}
}

func TestValuesAreConvertedBack(t *testing.T) {
	dc := payload.Values()
	all, err := dc.ToPayloads([]byte("\xff"), json.RawMessage(`{"a": 1}`), sample{Text: "<"}, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	var (
		b    []byte
		raw  json.RawMessage
		s    sample
		none *sample
		n    int
	)
	if err := dc.FromPayloads(all, &b, &raw, &s, &none, &n); err != nil {
		t.Fatal(err)
	}
	if string(b) != "\xff" || string(raw) != `{"a": 1}` || s.Text != "<" || none != nil || n != 3 {
		t.Errorf("got %q, %s, %v, %v, %v", b, raw, s, none, n)
	}
	if err := dc.FromPayload(all.Payloads[2], &n); err == nil {
		t.Error("an object is a number")
	}
	if d := cmp.Diff([]string{"/w", `{"a": 1}`, `{"text":"<"}`, "nil", "3"}, dc.ToStrings(all)); d != "" {
		t.Error(d)
	}
}

// TestConverterReportsWhatCouldNotBeDecoded is the data converter behind the interceptor.
func TestConverterReportsWhatCouldNotBeDecoded(t *testing.T) {
	keys := payload.New(payload.Options{Keys: ring(t, "a:"+keyA)})
	dc := payload.New(payload.Options{Keys: ring(t, "b:"+keyB)}).Converter()
	var got []byte
	wantKind(t, dc.FromPayload(encode(t, keys, value([]byte("x"))), &got), payload.UnknownKey)
	if err := dc.FromPayload(value([]byte("decoded")), &got); err != nil || string(got) != "decoded" {
		t.Errorf("got %q, %v", got, err)
	}
	p, err := keys.Converter().ToPayload([]byte("x"))
	if err != nil || !p.Equal(&commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/plain")}, Data: []byte("x")}) {
		t.Errorf("it encodes to %v, %v", p, err)
	}
	if err := keys.Converter().FromPayload(encode(t, keys, value([]byte("y"))), &got); err != nil || string(got) != "y" {
		t.Errorf("got %q, %v", got, err)
	}
	_, err = dc.ToPayload(make([]byte, payload.MaxSize+1))
	wantKind(t, err, payload.TooLarge)
}
