package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/internal/httpclient"
)

// Signer signs requests with AWS Signature Version 4, with credentials that it finds on the machine.
type Signer interface {
	// Region returns the region that is configured on the machine, or "".
	Region(ctx context.Context) (string, error)
	// Sign signs a request. sum is the SHA-256 of its body in hex.
	Sign(ctx context.Context, req *http.Request, sum, region, service string) error
}

// Settings of the stores that an Opener opens.
type Settings struct {
	Signer  Signer
	Environ func(string) string // the environment
	Base    http.RoundTripper   // nil = the connections of the process
}

// Store stores blobs in a bucket. It is safe for concurrent use, also by several processes.
type Store struct {
	location location
	signer   Signer
	http     *http.Client
}

var _ blob.Store = (*Store)(nil)

// Limits of one request.
const (
	firstByte = 30 * time.Second
	total     = 5 * time.Minute
)

// emptySum is the SHA-256 of no bytes.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Opener returns the blob.Opener for s3.
func Opener(s Settings) blob.Opener {
	return func(address *url.URL) (blob.Store, error) {
		l, err := locate(address, s.Environ)
		if err != nil {
			return nil, err
		}
		base := s.Base
		if base == nil {
			if base, err = httpclient.Pool(httpclient.CertificatesOf(s.Environ)); err != nil {
				return nil, err
			}
		}
		client := httpclient.New(httpclient.Settings{FirstByte: firstByte, Total: total, MaxBody: blob.MaxSize, Base: base})
		return &Store{l, s.Signer, client.HTTP()}, nil
	}
}

func (s *Store) String() string { return s.location.String() }

// Put implements blob.Store. It always sends the content, which makes the object new for a lifecycle rule.
func (s *Store) Put(ctx context.Context, content []byte) (blob.Ref, error) {
	ref := blob.Of(content)
	if err := blob.CheckPut(ref, s.String()); err != nil {
		return blob.Ref{}, err
	}
	resp, err := s.send(ctx, http.MethodPut, ref, content, ref.SHA256)
	if err != nil {
		return blob.Ref{}, s.fail(ctx, "store", ref, err)
	}
	return ref, resp.Body.Close()
}

// Get implements blob.Store.
func (s *Store) Get(ctx context.Context, ref blob.Ref) ([]byte, error) {
	if err := blob.CheckGet(ref, s.String()); err != nil {
		return nil, err
	}
	resp, err := s.send(ctx, http.MethodGet, ref, nil, emptySum)
	if err != nil {
		return nil, s.fail(ctx, "read", ref, err)
	}
	defer resp.Body.Close()
	if resp.ContentLength >= 0 && resp.ContentLength != ref.Size {
		return nil, &blob.Error{Kind: blob.Damaged, Doing: "read", Ref: ref, Store: s.String(), Err: fmt.Errorf("it has %d bytes", resp.ContentLength)}
	}
	content := make([]byte, 0, ref.Size+1)
	b := bytes.NewBuffer(content)
	if _, err := io.Copy(b, io.LimitReader(resp.Body, ref.Size+1)); err != nil {
		return nil, s.fail(ctx, "read", ref, err)
	}
	if err := blob.Verify(ref, b.Bytes(), s.String()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// send sends a signed request.
func (s *Store) send(ctx context.Context, method string, ref blob.Ref, body []byte, sum string) (*http.Response, error) {
	region, err := s.location.regionFor(ctx, s.signer)
	if err != nil {
		return nil, &unsignedError{err}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.location.object(ref, region).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Amz-Content-Sha256", sum)
	if err := s.signer.Sign(ctx, req, sum, region, "s3"); err != nil {
		return nil, &unsignedError{err}
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, &redirectError{resp.StatusCode, resp.Header.Get("X-Amz-Bucket-Region")}
	}
	return resp, nil
}

// unsignedError is a request that could not be signed.
type unsignedError struct{ error }

// Unwrap returns the cause.
func (e *unsignedError) Unwrap() error { return e.error }

// redirectError is a response that is neither a success nor an error. S3 has the bucket elsewhere.
type redirectError struct {
	status int
	region string
}

// Error names the region of the bucket.
func (e *redirectError) Error() string {
	if e.region == "" {
		return fmt.Sprintf("HTTP %d", e.status)
	}
	return fmt.Sprintf("HTTP %d: the bucket is in the region %.30s; add ?region=%.30s to the address", e.status, e.region, e.region)
}

// fail returns the error of a request as a blob.Store does.
func (s *Store) fail(ctx context.Context, doing string, ref blob.Ref, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s blob: %w", doing, errors.Join(ctx.Err(), err))
	}
	kind, cause := classify(err)
	return &blob.Error{Kind: kind, Doing: doing, Ref: ref, Store: s.String(), Err: cause}
}
