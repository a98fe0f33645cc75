package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/blob"
)

// NewBlobs returns an empty store for one test.
type NewBlobs func(t *testing.T) blob.Store

// BlobSuite checks that a blob.Store does what the interface says, and blob.Sweeper if it is one.
func BlobSuite(t *testing.T, newBlobs NewBlobs) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, blob.Store)
	}{
		{"a content is returned unchanged", blobRoundTrip},
		{"the same content is the same blob", blobIdempotent},
		{"a megabyte is stored", blobLarge},
		{"an unknown blob is missing", blobMissing},
		{"an invalid reference is missing", blobInvalid},
		{"a reference with another size is an error", blobSize},
		{"the store keeps no reference to a content", blobCopies},
		{"contents are put and read concurrently", blobConcurrent},
		{"an ended context ends the operation", blobContext},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, newBlobs(t)) })
	}
	if _, ok := newBlobs(t).(blob.Sweeper); !ok {
		return
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T, blob.Store)
	}{
		{"an ended context ends the deletion", blobSweepContext},
		{"old blobs are deleted", blobOld},
		{"a blob that is put again is not old", blobRenewed},
		{"what is put while old blobs are deleted remains", blobRace},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, newBlobs(t)) })
	}
}

func putBlob(t *testing.T, s blob.Store, content []byte) blob.Ref {
	t.Helper()
	ref, err := s.Put(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	if ref != blob.Of(content) {
		t.Fatalf("the reference is %v, want %v", ref, blob.Of(content))
	}
	return ref
}

func wantBlob(t *testing.T, s blob.Store, content []byte) {
	t.Helper()
	got, err := s.Get(t.Context(), blob.Of(content))
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("got %d bytes, %v; want %d bytes", len(got), err, len(content))
	}
}

func wantBlobError(t *testing.T, err error, want blob.Kind) {
	t.Helper()
	if got := blob.KindOf(err); got != want {
		t.Errorf("the error is %v of kind %q, want %q", err, got, want)
	}
}

func blobRoundTrip(t *testing.T, s blob.Store) {
	for _, content := range [][]byte{{}, []byte("a"), []byte("\x00\xff<>&\r\n"), bytes.Repeat([]byte("ab"), 5000)} {
		putBlob(t, s, content)
		wantBlob(t, s, content)
	}
}

func blobIdempotent(t *testing.T, s blob.Store) {
	for range 3 {
		putBlob(t, s, []byte("same"))
	}
	wantBlob(t, s, []byte("same"))
}

func blobLarge(t *testing.T, s blob.Store) {
	content := make([]byte, 1<<20)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	putBlob(t, s, content)
	wantBlob(t, s, content)
}

func blobMissing(t *testing.T, s blob.Store) {
	putBlob(t, s, []byte("another"))
	_, err := s.Get(t.Context(), blob.Of([]byte("unknown")))
	wantBlobError(t, err, blob.Missing)
}

func blobInvalid(t *testing.T, s blob.Store) {
	ref := putBlob(t, s, []byte("x"))
	for _, bad := range []blob.Ref{
		{},
		{SHA256: "../../../etc/passwd", Size: 1},
		{SHA256: ref.SHA256[:63] + "G", Size: 1},
		{SHA256: ref.SHA256 + "/", Size: 1},
		{SHA256: ref.SHA256, Size: -1},
		{SHA256: ref.SHA256, Size: blob.MaxSize + 1},
	} {
		_, err := s.Get(t.Context(), bad)
		wantBlobError(t, err, blob.Missing)
	}
}

func blobSize(t *testing.T, s blob.Store) {
	ref := putBlob(t, s, []byte("four"))
	for _, size := range []int64{0, 3, 5} {
		_, err := s.Get(t.Context(), blob.Ref{SHA256: ref.SHA256, Size: size})
		wantBlobError(t, err, blob.Damaged)
	}
}

func blobCopies(t *testing.T, s blob.Store) {
	content := []byte("content")
	ref := putBlob(t, s, content)
	content[0] = 'X'
	got, err := s.Get(t.Context(), ref)
	if err != nil || string(got) != "content" {
		t.Fatalf("got %q, %v", got, err)
	}
	got[0] = 'X'
	wantBlob(t, s, []byte("content"))
}

func blobConcurrent(t *testing.T, s blob.Store) {
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 10 {
				content := fmt.Appendf(nil, "content %d", (i+worker)%10)
				if _, err := s.Put(t.Context(), content); err != nil {
					t.Error(err)
					return
				}
				if got, err := s.Get(t.Context(), blob.Of(content)); err != nil || !bytes.Equal(got, content) {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

func blobContext(t *testing.T, s blob.Store) {
	ref := putBlob(t, s, []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, []byte("y")); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Get(ctx, ref); !errors.Is(err, context.Canceled) {
		t.Errorf("get: %v", err)
	}
}

func blobSweepContext(t *testing.T, s blob.Store) {
	putBlob(t, s, []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.(blob.Sweeper).DeleteOlder(ctx, time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: %v", err)
	}
	wantBlob(t, s, []byte("x"))
}

func deleteBlobs(t *testing.T, s blob.Store, before time.Time, want blob.Deleted) {
	t.Helper()
	got, err := s.(blob.Sweeper).DeleteOlder(t.Context(), before)
	if err != nil || got != want {
		t.Fatalf("deleted %+v, %v; want %+v", got, err, want)
	}
}

func blobOld(t *testing.T, s blob.Store) {
	start := time.Now()
	ref := putBlob(t, s, []byte("one"))
	putBlob(t, s, []byte("three"))
	deleteBlobs(t, s, start.Add(-time.Hour), blob.Deleted{})
	wantBlob(t, s, []byte("one"))
	deleteBlobs(t, s, start.Add(time.Hour), blob.Deleted{Blobs: 2, Bytes: 8})
	_, err := s.Get(t.Context(), ref)
	wantBlobError(t, err, blob.Missing)
	deleteBlobs(t, s, start.Add(time.Hour), blob.Deleted{})
	putBlob(t, s, []byte("one"))
	wantBlob(t, s, []byte("one"))
}

func blobRenewed(t *testing.T, s blob.Store) {
	putBlob(t, s, []byte("renewed"))
	putBlob(t, s, []byte("old"))
	between := afterPuts(t, s)
	putBlob(t, s, []byte("renewed"))
	deleteBlobs(t, s, between, blob.Deleted{Blobs: 1, Bytes: 3})
	wantBlob(t, s, []byte("renewed"))
}

// blobRace puts old blobs again while old blobs are deleted: each that Put acknowledged remains.
func blobRace(t *testing.T, s blob.Store) {
	const blobs = 40
	content := func(i int) []byte { return fmt.Appendf(nil, "content %d", i) }
	for i := range blobs {
		putBlob(t, s, content(i))
	}
	between := afterPuts(t, s)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if _, err := s.(blob.Sweeper).DeleteOlder(t.Context(), between); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range blobs {
		putBlob(t, s, content(i))
	}
	wg.Wait()
	for i := range blobs {
		wantBlob(t, s, content(i))
	}
}

// afterPuts returns a time after which later blobs are stored, by the clock of the store: file systems have times of
// up to 10 ms.
func afterPuts(t *testing.T, s blob.Store) time.Time {
	t.Helper()
	start := time.Now()
	for time.Since(start) < 15*time.Millisecond {
		putBlob(t, s, []byte("tick"))
	}
	between := time.Now()
	for time.Since(between) < 15*time.Millisecond {
		putBlob(t, s, []byte("tick"))
	}
	return between
}
