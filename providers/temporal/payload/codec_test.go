package payload_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/providers/temporal/payload"
)

// Keys of tests: 32 bytes in hex.
const (
	keyA = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	keyB = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"
)

func ring(t testing.TB, text string) *payload.Ring {
	t.Helper()
	r, err := payload.ParseRing("PEX_KEYS", text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// value returns a payload as a data converter makes it.
func value(data []byte) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/plain"), "other": {0xff, 0}}, Data: data}
}

// noise returns bytes that cannot be compressed.
func noise(n int) []byte {
	out, r := make([]byte, n), rand.New(rand.NewPCG(1, 2))
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// text returns bytes that can be compressed to a fraction.
func text(n int) []byte { return bytes.Repeat([]byte("the same words again, "), n/22+1)[:n] }

func encode(t testing.TB, c *payload.Codec, p *commonpb.Payload) *commonpb.Payload {
	t.Helper()
	out, err := c.Encode([]*commonpb.Payload{p})
	if err != nil || len(out) != 1 {
		t.Fatalf("%d payloads, %v", len(out), err)
	}
	return out[0]
}

func decodeError(c *payload.Codec, p *commonpb.Payload) error {
	_, err := c.Decode([]*commonpb.Payload{p})
	return err
}

func wantKind(t testing.TB, err error, want payload.Kind, says ...string) {
	t.Helper()
	if got := payload.KindOf(err); got != want {
		t.Fatalf("the error is %v of kind %q, want %q", err, got, want)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not say %q", err, s)
		}
	}
}

func storage(p *commonpb.Payload) string { return string(p.Metadata["pex-storage"]) }

func TestPayloadsAreDecodedToWhatTheyWere(t *testing.T) {
	store := blob.NewDir(t.TempDir())
	keys := ring(t, "a:"+keyA)
	for _, c := range []struct {
		name    string
		codec   *payload.Codec
		data    []byte
		plain   bool
		storage string
	}{
		{"small", payload.New(payload.Options{Store: store}), []byte("<small>"), true, ""},
		{"at the threshold", payload.New(payload.Options{Store: store}), noise(payload.Threshold - 100), true, ""},
		{"compressed", payload.New(payload.Options{Store: store}), text(2_500_000), false, ""},
		{"stored", payload.New(payload.Options{Store: store}), noise(2_500_000), false, "blob"},
		{"without a store, compressed", payload.New(payload.Options{}), text(2_500_000), false, ""},
		{"without a store, large", payload.New(payload.Options{}), noise(1_500_000), true, ""},
		{"encrypted, empty", payload.New(payload.Options{Keys: keys}), nil, false, ""},
		{"encrypted, small", payload.New(payload.Options{Keys: keys, Store: store}), []byte("a"), false, ""},
		{"encrypted and compressed", payload.New(payload.Options{Keys: keys, Store: store}), text(2_500_000), false, ""},
		{"encrypted and stored", payload.New(payload.Options{Keys: keys, Store: store}), noise(2_500_000), false, "blob"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := value(c.data)
			out := encode(t, c.codec, in)
			if plain := in.Equal(out); plain != c.plain || storage(out) != c.storage {
				t.Errorf("unchanged: %v, storage: %q", plain, storage(out))
			}
			if c.storage != "" && (len(out.Data) > 200 || out.ExternalPayloads[0].SizeBytes < 2_500_000) {
				t.Errorf("the payload has %d bytes besides the blob: %v", len(out.Data), out.ExternalPayloads)
			}
			got, err := c.codec.Decode([]*commonpb.Payload{out})
			if err != nil {
				t.Fatal(err)
			}
			if !value(c.data).Equal(got[0]) {
				t.Errorf("it is %.1000s", got[0])
			}
			if !value(c.data).Equal(in) {
				t.Errorf("the argument was changed to %.1000s", in)
			}
			again := encode(t, c.codec, out)
			if !c.plain && again != out {
				t.Error("an encoded payload was encoded again")
			}
		})
	}
}

func TestEncryptedPayloadsShowNothing(t *testing.T) {
	const secret = "the secret words of a prompt"
	store := blob.NewDir(t.TempDir())
	codec := payload.New(payload.Options{Keys: ring(t, "a:"+keyA), Store: store})
	for _, data := range [][]byte{[]byte(secret), append(noise(payload.Threshold), secret...)} {
		one, two := encode(t, codec, value(data)), encode(t, codec, value(data))
		if one.Equal(two) {
			t.Error("equal contents can be recognized")
		}
		all := one.String()
		if storage(one) != "" {
			var ref blob.Ref
			if err := json.Unmarshal(one.Data, &ref); err != nil {
				t.Fatal(err)
			}
			content, err := store.Get(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			all += string(content)
		}
		for _, part := range []string{secret, "binary/plain", "other"} {
			if strings.Contains(all, part) {
				t.Errorf("%q is readable", part)
			}
		}
	}
}

func TestSameContentIsTheSameBlob(t *testing.T) {
	codec := payload.New(payload.Options{Store: blob.NewDir(t.TempDir())})
	one, two := encode(t, codec, value(noise(1<<20))), encode(t, codec, value(noise(1<<20)))
	if !one.Equal(two) {
		t.Errorf("%s is not %s", one, two)
	}
}

func TestKeysRotate(t *testing.T) {
	before := payload.New(payload.Options{Keys: ring(t, "2026-10:"+keyA)})
	during := payload.New(payload.Options{Keys: ring(t, "2026-11:"+keyB+"\n2026-10:"+keyA)})
	after := payload.New(payload.Options{Keys: ring(t, "2026-11:"+keyB)})
	old, current := encode(t, before, value([]byte("x"))), encode(t, during, value([]byte("x")))
	for name, err := range map[string]error{
		"old, during": decodeError(during, old), "new, during": decodeError(during, current), "new, after": decodeError(after, current),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantKind(t, decodeError(after, old), payload.UnknownKey, "key 2026-10", "add that key to PEX_KEYS")
	wantKind(t, decodeError(before, current), payload.UnknownKey, "key 2026-11")
}

func TestKeysThatDoNotFitAreNamed(t *testing.T) {
	store := blob.NewDir(t.TempDir())
	sealed := encode(t, payload.New(payload.Options{Keys: ring(t, "a:"+keyA)}), value([]byte("x")))
	wantKind(t, decodeError(payload.New(payload.Options{Keys: ring(t, "a:"+keyB)}), sealed), payload.WrongKey, "key a in PEX_KEYS is not the key of this name")
	wantKind(t, decodeError(payload.New(payload.Options{}), sealed), payload.UnknownKey, "this process has no keys")

	withKeys := payload.New(payload.Options{Keys: ring(t, keyA), Store: store})
	plain := payload.New(payload.Options{Store: store})
	compressed := encode(t, plain, value(text(1<<20)))
	for _, p := range []*commonpb.Payload{value([]byte("forged")), compressed, {}} {
		wantKind(t, decodeError(withKeys, p), payload.NotEncrypted, "accepts encrypted payloads only")
	}
	migrating := payload.New(payload.Options{Keys: ring(t, keyA), Store: store, AcceptPlain: true})
	for _, p := range []*commonpb.Payload{value([]byte("from before")), compressed} {
		if err := decodeError(migrating, p); err != nil {
			t.Error(err)
		}
	}
}

// TestChangesAreFound changes every byte and every part of the metadata of an encrypted payload.
func TestChangesAreFound(t *testing.T) {
	codec := payload.New(payload.Options{Keys: ring(t, "a:"+keyA+"\nb:"+keyB), Store: blob.NewDir(t.TempDir())})
	sealed := encode(t, codec, value(text(100_000)))
	for i := range sealed.Data {
		sealed.Data[i] ^= 1
		wantKind(t, decodeError(codec, sealed), payload.Damaged)
		sealed.Data[i] ^= 1
	}
	for n := range len(sealed.Data) {
		short := &commonpb.Payload{Metadata: sealed.Metadata, Data: sealed.Data[:n]}
		wantKind(t, decodeError(codec, short), payload.Damaged)
	}
	for name, change := range map[string]struct {
		value string
		want  payload.Kind
	}{
		"pex-compression": {"", payload.Damaged},
		"pex-key":         {"b", payload.WrongKey},
		"pex-key-check":   {"00000000", payload.WrongKey},
		"pex-storage":     {"blob", payload.Damaged},
		"pex-version":     {"2", payload.Version},
		"encoding":        {"binary/plain", payload.NotEncrypted},
	} {
		was := sealed.Metadata[name]
		sealed.Metadata[name] = []byte(change.value)
		wantKind(t, decodeError(codec, sealed), change.want)
		sealed.Metadata[name] = was
	}
	if err := decodeError(codec, sealed); err != nil {
		t.Error(err)
	}
}

func TestLaterVersionsAreRefused(t *testing.T) {
	codec := payload.New(payload.Options{})
	for name, value := range map[string]string{"pex-version": "2", "pex-compression": "brotli", "pex-storage": "tape"} {
		p := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/pex"), "pex-version": []byte("1"), name: []byte(value)}}
		wantKind(t, decodeError(codec, p), payload.Version, value, "or a later one")
	}
}

func TestSizesAreLimited(t *testing.T) {
	codec := payload.New(payload.Options{})
	_, err := codec.Encode([]*commonpb.Payload{value(noise(2 << 20))})
	wantKind(t, err, payload.NoStore, "configure a blob store")
	_, err = codec.Encode([]*commonpb.Payload{value(make([]byte, payload.MaxSize+1))})
	wantKind(t, err, payload.TooLarge)

	bomb := encode(t, codec, value(make([]byte, payload.MaxSize-1000)))
	twice := &commonpb.Payload{Metadata: bomb.Metadata, Data: append(bytes.Clone(bomb.Data), bomb.Data...)}
	wantKind(t, decodeError(codec, twice), payload.TooLarge)
}

// scripted is a blob store that fails as scripted.
type scripted struct {
	blob.Store
	kinds []blob.Kind // of the next operations; "" = it works
	calls int
}

func (s *scripted) next() error {
	s.calls++
	if len(s.kinds) == 0 {
		return nil
	}
	k := s.kinds[0]
	if s.kinds = s.kinds[1:]; k == "" {
		return nil
	}
	return &blob.Error{Kind: k, Doing: "use", Store: "test"}
}

func (s *scripted) Put(ctx context.Context, content []byte) (blob.Ref, error) {
	if err := s.next(); err != nil {
		return blob.Ref{}, err
	}
	return s.Store.Put(ctx, content)
}

func (s *scripted) Get(ctx context.Context, ref blob.Ref) ([]byte, error) {
	if err := s.next(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, ref)
}

func TestUnreachableStoreIsTriedAgain(t *testing.T) {
	s := &scripted{Store: blob.NewDir(t.TempDir())}
	var waits []time.Duration
	codec := payload.New(payload.Options{Store: s, Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}})
	s.kinds = []blob.Kind{blob.Unreachable, blob.Unreachable, blob.Unreachable, "", blob.Unreachable, ""}
	p := encode(t, codec, value(noise(1<<20)))
	if err := decodeError(codec, p); err != nil {
		t.Error(err)
	}
	const first = 100 * time.Millisecond
	if d := cmp.Diff([]time.Duration{first, 2 * first, 4 * first, first}, waits); d != "" {
		t.Error(d)
	}
	s.kinds = []blob.Kind{blob.Unreachable, blob.Unreachable, blob.Unreachable, blob.Unreachable}
	err := decodeError(codec, p)
	wantKind(t, err, "blob_unreachable", "the store is not available")
	if e, _ := errors.AsType[*payload.Error](err); !e.Temporary() {
		t.Error("the error is permanent")
	}
}

func TestErrorsOfTheStoreAreNamed(t *testing.T) {
	s := &scripted{Store: blob.NewDir(t.TempDir())}
	codec := payload.New(payload.Options{Store: s})
	p := encode(t, codec, value(noise(1<<20)))
	for _, k := range []blob.Kind{blob.Missing, blob.Damaged, blob.Denied, blob.Full} {
		s.kinds, s.calls = []blob.Kind{k}, 0
		err := decodeError(codec, p)
		wantKind(t, err, payload.BlobKind(k))
		if e, _ := errors.AsType[*payload.Error](err); s.calls != 1 || e.Temporary() || blob.KindOf(err) != k {
			t.Errorf("%s: %d calls, %v", k, s.calls, err)
		}
	}
	wantKind(t, decodeError(payload.New(payload.Options{}), p), payload.NoStore, "configure the blob store of the other clients and workers")
	wantKind(t, decodeError(payload.New(payload.Options{Store: blob.NewDir(t.TempDir())}), p), "blob_missing", "configure the same store for all processes")
}

func TestReferencesAreChecked(t *testing.T) {
	s := &scripted{Store: blob.NewDir(t.TempDir())}
	codec := payload.New(payload.Options{Store: s})
	p := encode(t, codec, value(noise(1<<20)))
	s.calls = 0
	for _, data := range []string{
		"", "{}", "null", `{"sha256":"../x","size":1}`, string(p.Data) + "x", strings.Replace(string(p.Data), "}", `,"path":"x"}`, 1),
		strings.Replace(string(p.Data), `"size":`, `"size":9999999999`, 1), strings.Repeat(" ", 2000) + string(p.Data),
	} {
		wantKind(t, decodeError(codec, &commonpb.Payload{Metadata: p.Metadata, Data: []byte(data)}), payload.Damaged)
	}
	if s.calls > 0 {
		t.Errorf("%d calls of the store", s.calls)
	}
}

func TestCheckUsesTheStore(t *testing.T) {
	if err := payload.New(payload.Options{}).Check(t.Context()); err != nil {
		t.Error(err)
	}
	s := &scripted{Store: blob.NewDir(t.TempDir())}
	codec := payload.New(payload.Options{Store: s})
	if err := codec.Check(t.Context()); err != nil || s.calls != 2 {
		t.Errorf("%d calls, %v", s.calls, err)
	}
	s.kinds = []blob.Kind{blob.Denied}
	wantKind(t, codec.Check(t.Context()), "blob_denied")
	s.kinds = []blob.Kind{"", blob.Missing}
	wantKind(t, codec.Check(t.Context()), "blob_missing")
}

func TestFailuresHaveTheKindAsType(t *testing.T) {
	err := fmt.Errorf("start: %w", decodeError(payload.New(payload.Options{}), encode(t, payload.New(payload.Options{Keys: ring(t, "a:"+keyA)}), value(nil))))
	failure, ok := errors.AsType[*temporal.ApplicationError](payload.Failure(err))
	if !ok || failure.Type() != "pex.payload.unknown_key" || !failure.NonRetryable() || !strings.Contains(failure.Message(), "encrypted with key a") {
		t.Errorf("got %v", failure)
	}
	other := errors.New("other")
	if !errors.Is(payload.Failure(other), other) || payload.Failure(nil) != nil {
		t.Error("another error was changed")
	}
}

func TestCodecIsSafeForConcurrentUse(t *testing.T) {
	codec := payload.New(payload.Options{Keys: ring(t, keyA), Store: blob.NewDir(t.TempDir())})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 5 {
				data := append(noise(i*40_000), byte(n))
				out, err := codec.Encode([]*commonpb.Payload{value(data), value(text(n * 50_000))})
				if err == nil {
					out, err = codec.Decode(out)
				}
				if err != nil || !bytes.Equal(out[0].Data, data) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	wg.Wait()
}
