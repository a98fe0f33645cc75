package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/artifact"
)

// MaxSize is the maximum size of a blob in bytes. A blob is held in memory.
const MaxSize = 128 << 20

// Ref identifies a blob by its content.
type Ref struct {
	SHA256 string `json:"sha256"` // lower-case hex
	Size   int64  `json:"size"`   // bytes
}

// Store stores blobs. It is safe for concurrent use, also by several processes. Errors are *Error, or the error of a
// context that ended.
type Store interface {
	// Put stores a content, unless the store has it. The blob is durable when Put returns. It keeps no reference to
	// content.
	Put(ctx context.Context, content []byte) (Ref, error)
	// Get returns a content, which has the SHA-256 and the size of ref.
	Get(ctx context.Context, ref Ref) ([]byte, error)
}

// Sweeper is a Store that can delete old blobs. Stores whose servers do so by a rule of their own are none.
type Sweeper interface {
	// DeleteOlder deletes the blobs whose last Put was before a time. A blob that is put meanwhile remains.
	DeleteOlder(ctx context.Context, before time.Time) (Deleted, error)
}

// Deleted is what DeleteOlder deleted, also if it returns an error.
type Deleted struct {
	Blobs int
	Bytes int64
}

// Of returns the Ref of a content.
func Of(content []byte) Ref {
	sum := sha256.Sum256(content)
	return Ref{hex.EncodeToString(sum[:]), int64(len(content))}
}

// Valid reports whether a Ref, which may come from anywhere, can refer to a blob.
func (r Ref) Valid() bool {
	return artifact.IsDigest(r.SHA256) && r.Size >= 0 && r.Size <= MaxSize
}

// String returns the beginning of the digest, and the size.
func (r Ref) String() string { return fmt.Sprintf("%.12s (%d bytes)", r.SHA256, r.Size) }
