package payload

import (
	"context"
	"encoding/json"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/engine/retry"
)

// Sizes of payloads in bytes, including their metadata.
const (
	Threshold = 64 << 10          // larger payloads are compressed, and move to the blob store if they are still larger
	MaxInline = 2<<20 - Threshold // without a blob store: Temporal refuses payloads of 2 MiB
	MaxSize   = 64 << 20          // of a payload before it is compressed
)

// operationTimeout limits an operation of the blob store for callers without a context.
const operationTimeout = 30 * time.Second

// Options of a Codec.
type Options struct {
	Keys  *Ring      // nil = payloads are not encrypted
	Store blob.Store // of large payloads; nil = payloads above MaxInline are refused

	// AcceptPlain accepts payloads that are not encrypted although there are Keys: those of workflows that started
	// without keys. The operator of the server can then forge payloads.
	AcceptPlain bool

	Sleep func(context.Context, time.Duration) error // between attempts of the blob store; nil = a timer
}

// Codec encodes and decodes payloads. It is safe for concurrent use.
type Codec struct{ o Options }

var _ converter.PayloadCodec = (*Codec)(nil)

// New returns a Codec. It accesses nothing; Check does.
func New(o Options) *Codec {
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return &Codec{o}
}

// Encode implements converter.PayloadCodec. Payloads that are encoded remain as they are, since an interceptor may get a
// request again. Errors are *Error.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	return each(ctx, payloads, c.encode)
}

// Decode implements converter.PayloadCodec. Errors are *Error.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	return each(ctx, payloads, c.decode)
}

func each(ctx context.Context, payloads []*commonpb.Payload, do func(context.Context, *commonpb.Payload) (*commonpb.Payload, error)) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		var err error
		if out[i], err = do(ctx, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Check stores a small blob and reads it, so that a process finds out at its start whether it can use the blob store.
func (c *Codec) Check(ctx context.Context) error {
	if c.o.Store == nil {
		return nil
	}
	ref, err := c.put(ctx, []byte("check of the blob store\n"))
	if err == nil {
		_, err = c.get(ctx, ref)
	}
	return err
}

func (c *Codec) encode(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
	if isEncoded(p) {
		return p, nil
	}
	body := marshal(p)
	if len(body) > MaxSize {
		return nil, wrong(TooLarge, "encode", "it has %d bytes; the maximum is %d", len(body), MaxSize)
	}
	h := header{}
	if len(body) > Threshold {
		if small := compress(body); len(small) < len(body) {
			body, h.compression = small, zstdName
		}
	}
	if c.o.Keys != nil {
		k := c.o.Keys.current
		h.key, h.check = k.id, k.check
		sealed, err := k.seal(body, h.associated())
		if err != nil {
			return nil, &Error{Damaged, "encode", "encryption failed", err}
		}
		body = sealed
	}
	switch {
	case len(body) > Threshold && c.o.Store != nil:
		return c.move(ctx, h, body)
	case len(body) > MaxInline:
		return nil, wrong(NoStore, "encode", "it has %d bytes, and Temporal accepts %d; configure a blob store for clients and workers", len(body), MaxInline)
	case h == header{}:
		return p, nil
	}
	return h.payload(body), nil
}

// move stores a body as a blob.
func (c *Codec) move(ctx context.Context, h header, body []byte) (*commonpb.Payload, error) {
	ref, err := c.put(ctx, body)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(ref)
	if err != nil {
		return nil, err
	}
	h.storage = inBlob
	out := h.payload(data)
	out.ExternalPayloads = []*commonpb.Payload_ExternalPayloadDetails{{SizeBytes: ref.Size}} // statistics of the server
	return out, nil
}

func (c *Codec) decode(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
	if !isEncoded(p) {
		if c.o.Keys != nil && !c.o.AcceptPlain {
			return nil, notEncrypted()
		}
		return p, nil
	}
	h, err := parseHeader(p)
	if err != nil {
		return nil, err
	}
	k, err := c.keyOf(h) // before the blob store is asked
	if err != nil {
		return nil, err
	}
	body := p.GetData()
	if h.storage == inBlob {
		ref, err := parseRef(body)
		if err != nil {
			return nil, err
		}
		if body, err = c.get(ctx, ref); err != nil {
			return nil, err
		}
	}
	if k != nil {
		opened, ok := k.open(body, h.associated())
		if !ok {
			return nil, wrong(Damaged, "decode", "its content or metadata was changed after it was encrypted with key %s", k.id)
		}
		body = opened
	}
	if h.compression != "" {
		if body, err = decompress(body); err != nil {
			return nil, err
		}
	}
	return unmarshal(body)
}

// keyOf returns the key of a payload, or nil if it is not encrypted.
func (c *Codec) keyOf(h header) (*key, error) {
	ring := c.o.Keys
	switch {
	case h.key == "" && ring != nil && !c.o.AcceptPlain:
		return nil, notEncrypted()
	case h.key == "":
		return nil, nil
	case ring == nil:
		return nil, wrong(UnknownKey, "decode", "it is encrypted with key %s, and this process has no keys; configure the keys of the other clients and workers", h.key)
	}
	k := ring.byID[h.key]
	switch {
	case k == nil:
		return nil, wrong(UnknownKey, "decode", "it is encrypted with key %s; add that key to %s, after the key that encrypts", h.key, ring.source)
	case k.check != h.check:
		return nil, wrong(WrongKey, "decode", "key %s in %s is not the key of this name that encrypted it (check %.8s, not %s)", h.key, ring.source, h.check, k.check)
	}
	return k, nil
}

func notEncrypted() error {
	return wrong(NotEncrypted, "decode", "it is not encrypted, and this process accepts encrypted payloads only; configure the same keys for all clients and workers, or accept payloads from before there were keys")
}

// attempts of the blob store for one payload: a second in total, while a task waits.
var attempts = retry.Policy{MaxAttempts: 4, InitialDelay: 100 * time.Millisecond, MaxDelay: time.Second}

func (c *Codec) put(ctx context.Context, body []byte) (ref blob.Ref, err error) {
	err = c.repeat(ctx, func() error {
		ref, err = c.o.Store.Put(ctx, body)
		return err
	})
	if err != nil {
		return blob.Ref{}, fromStore("encode", err)
	}
	return ref, nil
}

func (c *Codec) get(ctx context.Context, ref blob.Ref) (body []byte, err error) {
	if c.o.Store == nil {
		return nil, wrong(NoStore, "decode", "it is in a blob store, and this process has none; configure the blob store of the other clients and workers")
	}
	err = c.repeat(ctx, func() error {
		body, err = c.o.Store.Get(ctx, ref)
		return err
	})
	if err != nil {
		return nil, fromStore("decode", err)
	}
	return body, nil
}

// repeat repeats an operation of the blob store while the store is unreachable.
func (c *Codec) repeat(ctx context.Context, operation func() error) error {
	for n := 1; ; n++ {
		err := operation()
		if blob.KindOf(err) != blob.Unreachable || n == attempts.MaxAttempts || ctx.Err() != nil {
			return err
		}
		if c.o.Sleep(ctx, attempts.Backoff(n)) != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
