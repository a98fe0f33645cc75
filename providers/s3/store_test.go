package s3_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/providers/s3"
)

var credentials = aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "hunter2hunter2"}

// signer signs with the SDK, as the signer of the product does.
type signer struct {
	credentials aws.Credentials
	region      string
	err         error
}

func (s signer) Region(context.Context) (string, error) { return s.region, s.err }

func (s signer) Sign(ctx context.Context, req *http.Request, sum, region, service string) error {
	if s.err != nil {
		return s.err
	}
	return v4.NewSigner().SignHTTP(ctx, s.credentials, req, sum, service, region, time.Now())
}

// bucket is a server with the objects of one bucket. It refuses requests whose signature or body is wrong.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	answer  func(http.ResponseWriter, *http.Request) bool // answers instead of it, if it returns true
}

func serve(t *testing.T) (*bucket, string) {
	t.Helper()
	b := &bucket{objects: map[string][]byte{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return b, server.URL
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answer != nil && b.answer(w, r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	name, isBucket := strings.CutPrefix(r.URL.Path, "/bucket/")
	content, exists := b.objects[name]
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "IncompleteBody")
	case r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]):
		refuse(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch")
	case !signed(r, len(body)):
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch")
	case !isBucket:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodPut:
		b.objects[name] = body
	case r.Method == http.MethodGet && exists:
		_, _ = w.Write(content)
	case r.Method == http.MethodGet:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// signed signs what was signed of a request again, and compares.
func signed(r *http.Request, length int) bool {
	got := r.Header.Get("Authorization")
	_, list, _ := strings.Cut(got, "SignedHeaders=")
	list, _, _ = strings.Cut(list, ",")
	names := strings.Split(list, ";")
	again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), strings.NewReader(strings.Repeat("x", length)))
	if err != nil {
		return false
	}
	has := map[string]bool{}
	for _, name := range names {
		has[name] = true
		if name != "host" && name != "content-length" {
			again.Header.Set(name, r.Header.Get(name))
		}
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || !has["host"] || !has["x-amz-date"] || !has["x-amz-content-sha256"] || time.Since(at).Abs() > 15*time.Minute {
		return false
	}
	err = v4.NewSigner().SignHTTP(r.Context(), credentials, again, r.Header.Get("X-Amz-Content-Sha256"), "s3", "eu-test-1", at)
	return err == nil && again.Header.Get("Authorization") == got
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>the message of %s</Message><StringToSign>hunter2</StringToSign></Error>`, code, code)
}

func environ(string) string { return "" }

func open(t *testing.T, address string, s s3.Settings) blob.Store {
	t.Helper()
	if s.Signer == nil {
		s.Signer = signer{credentials: credentials, region: "eu-test-1"}
	}
	if s.Environ == nil {
		s.Environ = environ
	}
	store, err := blob.Open(address, map[string]blob.Opener{"s3": s3.Opener(s)})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStoreConforms(t *testing.T) {
	enginetest.BlobSuite(t, func(t *testing.T) blob.Store {
		_, url := serve(t)
		return open(t, "s3://bucket/some/prefix?endpoint="+url, s3.Settings{})
	})
}

func TestObjectsAreBelowThePrefix(t *testing.T) {
	b, url := serve(t)
	ref := blob.Of([]byte("x"))
	for _, prefix := range []string{"", "/", "/a/b_c-1.d", "/a/b_c-1.d/"} {
		clear(b.objects)
		s := open(t, "s3://bucket"+prefix, s3.Settings{Environ: func(name string) string {
			return map[string]string{"AWS_ENDPOINT_URL_S3": url}[name]
		}})
		if _, err := s.Put(t.Context(), []byte("x")); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.Trim(prefix, "/")+"/"+ref.SHA256[:2]+"/"+ref.SHA256, "/")
		if string(b.objects[name]) != "x" {
			t.Errorf("%q: the objects are %v", prefix, b.objects)
		}
	}
}

// roundTrip answers requests without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestBucketsOfAWSHaveTheirHost(t *testing.T) {
	for address, want := range map[string]string{
		"s3://bucket/p":                         "https://bucket.s3.eu-test-1.amazonaws.com/p/2d/",
		"s3://bucket?region=us-east-2":          "https://bucket.s3.us-east-2.amazonaws.com/2d/",
		"s3://my.bucket/p?region=us-east-2":     "https://s3.us-east-2.amazonaws.com/my.bucket/p/2d/",
		"s3://bucket?region=cn-north-1":         "https://bucket.s3.cn-north-1.amazonaws.com.cn/2d/",
		"s3://bucket?endpoint=https://h:1/":     "https://h:1/bucket/2d/",
		"s3://bucket/p?endpoint=http%3A%2F%2Fh": "http://h/bucket/p/2d/",
	} {
		var got *http.Request
		s := open(t, address, s3.Settings{Base: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1, Request: r}, nil
		})})
		if _, err := s.Get(t.Context(), blob.Of([]byte("x"))); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(got.URL.String(), want) {
			t.Errorf("%s: %s, want %s", address, got.URL, want)
		}
		if got.Header.Get("X-Amz-Security-Token") != "" || !strings.Contains(got.Header.Get("Authorization"), "/s3/aws4_request") {
			t.Errorf("%s: %v", address, got.Header)
		}
	}
}

func TestUnusableAddressesAreNotShown(t *testing.T) {
	for _, address := range []string{
		"s3://", "s3://b", "s3://Bucket", "s3://user:hunter2@bucket", "s3://bucket/a%20b", "s3://bucket/../x", "s3://bucket/a/.b", "s3://bucket?x=hunter2",
		"s3://bucket?region=a&region=b", "s3://bucket?region=EU", "s3://bucket?endpoint=hunter2", "s3://bucket?endpoint=ftp://hunter2",
		"s3://bucket?endpoint=https://u:hunter2@h", "s3://bucket?endpoint=https://h/hunter2", "s3://bucket#hunter2", "s3://bucket/" + strings.Repeat("x", 201), "s3://bucket?%zz",
	} {
		_, err := blob.Open(address, map[string]blob.Opener{"s3": s3.Opener(s3.Settings{Environ: environ})})
		if _, ok := errors.AsType[*blob.AddressError](err); !ok || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestErrorsAreNamed(t *testing.T) {
	b, url := serve(t)
	content := []byte("content")
	ref := blob.Of(content)
	for _, c := range []struct {
		status int
		code   string
		want   blob.Kind
		says   string
	}{
		{404, "NoSuchKey", blob.Missing, "configure the same store"},
		{404, "NoSuchBucket", blob.Denied, "HTTP 404 NoSuchBucket: the message of NoSuchBucket"},
		{403, "AccessDenied", blob.Denied, "lacks s3:ListBucket"},
		{403, "SignatureDoesNotMatch", blob.Denied, "check the credentials"},
		{403, "InvalidAccessKeyId", blob.Denied, "check the credentials"},
		{400, "ExpiredToken", blob.Denied, "HTTP 400 ExpiredToken"},
		{400, "BadDigest", blob.Unreachable, ""},
		{400, "EntityTooLarge", blob.TooLarge, ""},
		{413, "", blob.TooLarge, "HTTP 413 Request Entity Too Large"},
		{429, "SlowDown", blob.Unreachable, ""},
		{500, "InternalError", blob.Unreachable, ""},
		{503, "SlowDown", blob.Unreachable, "HTTP 503 SlowDown"},
		{507, "XMinioStorageFull", blob.Full, ""},
		{507, "Other", blob.Full, ""},
	} {
		b.answer = func(w http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body)
			refuse(w, c.status, c.code)
			return true
		}
		s := open(t, "s3://bucket/p?endpoint="+url, s3.Settings{})
		_, put := s.Put(t.Context(), content)
		_, get := s.Get(t.Context(), ref)
		for _, err := range []error{put, get} {
			if blob.KindOf(err) != c.want || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "s3://bucket/p/ at 127.0.0.1") {
				t.Errorf("%d %s: %v (%s)", c.status, c.code, err, blob.KindOf(err))
			}
		}
	}
}

func TestBucketOfAnotherRegionIsNamed(t *testing.T) {
	b, url := serve(t)
	b.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-Amz-Bucket-Region", "ap-east-1")
		w.WriteHeader(http.StatusMovedPermanently)
		return true
	}
	_, err := open(t, "s3://bucket?endpoint="+url, s3.Settings{}).Put(t.Context(), []byte("x"))
	if blob.KindOf(err) != blob.Denied || !strings.Contains(err.Error(), "add ?region=ap-east-1 to the address") {
		t.Errorf("got %v", err)
	}
}

func TestRequestsAreNotSentElsewhere(t *testing.T) {
	b, url := serve(t)
	b.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Location", "http://other.invalid/")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	_, err := open(t, "s3://bucket?endpoint="+url, s3.Settings{}).Get(t.Context(), blob.Of([]byte("x")))
	if blob.KindOf(err) != blob.Denied || !strings.Contains(err.Error(), "another host") {
		t.Errorf("got %v", err)
	}
}

func TestWrongCredentialsAreDenied(t *testing.T) {
	_, url := serve(t)
	wrong := signer{credentials: aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wrong"}, region: "eu-test-1"}
	none := signer{err: errors.New("no AWS credentials found")}
	for name, s := range map[string]signer{"SignatureDoesNotMatch": wrong, "no AWS credentials found": none} {
		_, err := open(t, "s3://bucket?region=eu-test-1&endpoint="+url, s3.Settings{Signer: s}).Put(t.Context(), []byte("x"))
		if blob.KindOf(err) != blob.Denied || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := open(t, "s3://bucket", s3.Settings{Signer: signer{}}).Put(t.Context(), []byte("x"))
	if blob.KindOf(err) != blob.Denied || !strings.Contains(err.Error(), "add ?region=REGION to the address") {
		t.Errorf("no region: %v", err)
	}
}

func TestDamageIsFound(t *testing.T) {
	b, url := serve(t)
	s := open(t, "s3://bucket?endpoint="+url, s3.Settings{})
	ref, err := s.Put(t.Context(), []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"contenT", "cont", "content and more"} {
		for _, chunked := range []bool{false, true} {
			b.answer = func(w http.ResponseWriter, _ *http.Request) bool {
				if chunked {
					w.(http.Flusher).Flush()
				}
				_, _ = io.WriteString(w, damage)
				return true
			}
			if _, err := s.Get(t.Context(), ref); blob.KindOf(err) != blob.Damaged {
				t.Errorf("%q: %v", damage, err)
			}
		}
	}
	b.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", "7")
		_, _ = io.WriteString(w, "con")
		return true
	}
	if _, err := s.Get(t.Context(), ref); blob.KindOf(err) != blob.Unreachable {
		t.Errorf("a response that ends early: %v", err)
	}
}

func TestUnreachableServer(t *testing.T) {
	s := open(t, "s3://bucket?endpoint=http://127.0.0.1:1", s3.Settings{})
	_, err := s.Put(t.Context(), bytes.Repeat([]byte("x"), 1000))
	if blob.KindOf(err) != blob.Unreachable || !strings.Contains(err.Error(), "the store is not available") {
		t.Errorf("got %v", err)
	}
}
