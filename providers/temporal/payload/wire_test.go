package payload_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/providers/temporal/payload"
)

// wireForm is an encoded payload in testdata/wire: one that pexctl wrote once, and must decode for as long as there are
// histories and blobs.
type wireForm struct {
	Encoded map[string]string `json:"metadata"`
	Data    []byte            `json:"data"`
	Blob    []byte            `json:"blob,omitempty"`    // the blob that the data refers to
	Content string            `json:"content,omitempty"` // of the payload; "" = noise
	Repeat  int               `json:"repeat,omitempty"`  // how often the content is repeated
	Keys    string            `json:"keys,omitempty"`    // that decode it
}

// TestStoredPayloadsAreDecoded decodes what is in testdata/wire. With PEX_GOLDEN=update it adds the forms of this version
// that are missing; existing ones are never changed.
func TestStoredPayloadsAreDecoded(t *testing.T) {
	for name, f := range map[string]wireForm{
		"1-compressed":        {Content: "the same words again, ", Repeat: 4000},
		"1-encrypted":         {Content: "<a & b>\x00", Repeat: 1, Keys: "a:" + keyA},
		"1-stored":            {},
		"1-encrypted-in-blob": {Keys: "a:" + keyA},
	} {
		t.Run(name, func(t *testing.T) { checkWire(t, filepath.Join("testdata", "wire", name+".json"), f) })
	}
}

func checkWire(t *testing.T, file string, form wireForm) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) && os.Getenv("PEX_GOLDEN") == "update" {
		text = writeWire(t, form)
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	var f wireForm
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	store := blob.NewDir(t.TempDir())
	if f.Blob != nil {
		if _, err := store.Put(t.Context(), f.Blob); err != nil {
			t.Fatal(err)
		}
	}
	p := &commonpb.Payload{Metadata: map[string][]byte{}, Data: f.Data}
	for name, value := range f.Encoded {
		p.Metadata[name] = []byte(value)
	}
	out, err := codecOf(t, f, store).Decode([]*commonpb.Payload{p})
	if err != nil {
		t.Fatal(err)
	}
	if want := value(f.content()); !want.Equal(out[0]) {
		t.Errorf("it is %.200s, want %.200s", out[0], want)
	}
}

func (f wireForm) content() []byte {
	if f.Content == "" {
		return noise(70_000)
	}
	return []byte(strings.Repeat(f.Content, f.Repeat))
}

func codecOf(t *testing.T, f wireForm, store blob.Store) *payload.Codec {
	o := payload.Options{Store: store}
	if f.Keys != "" {
		o.Keys = ring(t, f.Keys)
	}
	return payload.New(o)
}

func writeWire(t *testing.T, f wireForm) []byte {
	store := blob.NewDir(t.TempDir())
	p := encode(t, codecOf(t, f, store), value(f.content()))
	f.Encoded, f.Data = map[string]string{}, p.Data
	for name, value := range p.Metadata {
		f.Encoded[name] = string(value)
	}
	if storage(p) != "" {
		var ref blob.Ref
		err := json.Unmarshal(p.Data, &ref)
		if err == nil {
			f.Blob, err = store.Get(t.Context(), ref)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// TestWireForm shows the bytes of the parts that do not depend on chance or a compressor.
func TestWireForm(t *testing.T) {
	store := blob.NewDir(t.TempDir())
	stored := encode(t, payload.New(payload.Options{Store: store}), value(noise(70_000)))
	var ref blob.Ref
	if err := json.Unmarshal(stored.Data, &ref); err != nil {
		t.Fatal(err)
	}
	content, err := store.Get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	want := "\x0a\x18\x0a\x08encoding\x12\x0cbinary/plain" + "\x0a\x0b\x0a\x05other\x12\x02\xff\x00" + "\x12\xf0\xa2\x04"
	if head := content[:len(want)]; string(head) != want || !bytes.Equal(content[len(want):], noise(70_000)) {
		t.Errorf("the blob starts with %q, want %q", head, want)
	}
	if got := string(stored.Data); got != `{"sha256":"`+ref.SHA256+`","size":70043}` {
		t.Errorf("the data is %s", got)
	}
	sealed := encode(t, payload.New(payload.Options{Keys: ring(t, "a:"+keyA)}), value([]byte("12345")))
	names := []string{}
	for name, value := range sealed.Metadata {
		names = append(names, name+"="+string(value))
	}
	if len(names) != 4 || len(sealed.Data) != 16+12+39+7+16 {
		t.Errorf("metadata %q, %d bytes", names, len(sealed.Data))
	}
}

// FuzzDecode decodes arbitrary payloads: no panic, no payload larger than MaxSize, and every error is an *Error.
func FuzzDecode(f *testing.F) {
	store := blob.NewDir(f.TempDir())
	plain := payload.New(payload.Options{Store: store})
	keys := payload.New(payload.Options{Keys: ring(f, "a:"+keyA), Store: store, AcceptPlain: true})
	for _, p := range []*commonpb.Payload{
		value([]byte("x")), encode(f, plain, value(text(100_000))), encode(f, plain, value(noise(100_000))),
		encode(f, keys, value([]byte("x"))), encode(f, keys, value(text(100_000))), encode(f, keys, value(noise(100_000))),
	} {
		m := p.Metadata
		f.Add(string(m["encoding"]), string(m["pex-version"]), string(m["pex-compression"]), string(m["pex-key"]), string(m["pex-key-check"]), storage(p), p.Data)
	}
	f.Fuzz(func(t *testing.T, encoding, version, compression, key, check, storage string, data []byte) {
		p := &commonpb.Payload{Metadata: map[string][]byte{
			"encoding": []byte(encoding), "pex-version": []byte(version), "pex-compression": []byte(compression),
			"pex-key": []byte(key), "pex-key-check": []byte(check), "pex-storage": []byte(storage),
		}, Data: data}
		for _, c := range []*payload.Codec{plain, keys} {
			out, err := c.Decode([]*commonpb.Payload{p})
			switch {
			case err != nil && payload.KindOf(err) == "":
				t.Errorf("the error has no kind: %v", err)
			case err == nil && len(out[0].GetData()) > payload.MaxSize:
				t.Errorf("it has %d bytes", len(out[0].Data))
			}
		}
	})
}

// FuzzRoundTrip encodes arbitrary values.
func FuzzRoundTrip(f *testing.F) {
	codec := payload.New(payload.Options{Keys: ring(f, "a:"+keyA)})
	f.Add("encoding", "json/plain", []byte(`{"a":1}`))
	f.Add("", "", []byte(nil))
	f.Fuzz(func(t *testing.T, name, meta string, data []byte) {
		p := &commonpb.Payload{Metadata: map[string][]byte{strings.ToValidUTF8(name, "?"): []byte(meta)}, Data: data}
		if meta == "binary/pex" {
			return
		}
		out, err := codec.Decode([]*commonpb.Payload{encode(t, codec, p)})
		if err != nil || !p.Equal(out[0]) {
			t.Errorf("%s is %v, %v", p, out, err)
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	for _, size := range []struct {
		name string
		data []byte
	}{{"1kB", text(1000)}, {"100kB", half(100_000)}, {"2.5MB", half(2_500_000)}} {
		for _, c := range []struct{ name, keys string }{{"plain", ""}, {"encrypted", keyA}} {
			o := payload.Options{Store: blob.NewDir(b.TempDir())}
			if c.keys != "" {
				o.Keys = ring(b, c.keys)
			}
			codec := payload.New(o)
			encoded := encode(b, codec, value(size.data))
			b.Run("encode/"+size.name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(size.data)))
				b.ReportAllocs()
				for b.Loop() {
					encode(b, codec, value(size.data))
				}
			})
			b.Run("decode/"+size.name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(size.data)))
				b.ReportAllocs()
				for b.Loop() {
					if err := decodeError(codec, encoded); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// half returns bytes that can be compressed to about half.
func half(n int) []byte {
	out := noise(n)
	for i := range out {
		out[i] = "0123456789abcdef"[out[i]&15]
	}
	return out
}
