package payload

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// coders are the compressor and decompressor of all codecs: they have large tables and are safe for concurrent use.
var coders = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	e, encoder := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
	d, decoder := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxSize), zstd.WithDecoderConcurrency(0))
	if err := errors.Join(encoder, decoder); err != nil {
		panic(err) // the options are constants
	}
	return e, d
})

func compress(body []byte) []byte {
	e, _ := coders()
	return e.EncodeAll(body, make([]byte, 0, len(body)/2))
}

// decompress returns an *Error if the result is larger than MaxSize.
func decompress(body []byte) ([]byte, error) {
	_, d := coders()
	out, err := d.DecodeAll(body, nil)
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, wrong(TooLarge, "decode", "it is larger than %d bytes when decompressed", MaxSize)
	case err != nil:
		return nil, wrong(Damaged, "decode", "it cannot be decompressed")
	}
	return out, nil
}
