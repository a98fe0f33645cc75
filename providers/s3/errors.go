package s3

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/internal/httpclient"
)

// refusal is the body of an error; see https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html. Its other
// members have parts of the request and of its signature.
type refusal struct {
	Code    string `xml:"Code"`
	Message string `xml:"Message"`
}

// kinds are those of the codes for which the status is not enough.
var kinds = map[string]blob.Kind{
	"NoSuchKey":                 blob.Missing,
	"EntityTooLarge":            blob.TooLarge,
	"RequestTimeout":            blob.Unreachable,
	"BadDigest":                 blob.Unreachable, // changed on the way
	"XAmzContentSHA256Mismatch": blob.Unreachable,
	"IncompleteBody":            blob.Unreachable,
	"OperationAborted":          blob.Unreachable,
	"XMinioStorageFull":         blob.Full,
	"QuotaExceeded":             blob.Full,
}

// classify returns the kind of an error of a request, and the cause for its message.
func classify(err error) (blob.Kind, error) {
	if _, ok := errors.AsType[*unsignedError](err); ok {
		return blob.Denied, err
	}
	if _, ok := errors.AsType[*redirectError](err); ok {
		return blob.Denied, err
	}
	failed, ok := errors.AsType[*httpclient.Error](err)
	if !ok {
		return blob.Unreachable, withoutURL(err)
	}
	if failed.Status == 0 {
		if errors.Is(err, httpclient.ErrRedirect) {
			return blob.Denied, failed
		}
		return blob.Unreachable, failed
	}
	var r refusal
	if xml.Unmarshal(failed.Body, &r) != nil || r.Code == "" {
		r.Code = http.StatusText(failed.Status)
	}
	kind, ok := kinds[r.Code]
	switch {
	case ok:
	case failed.Status == http.StatusInsufficientStorage:
		kind = blob.Full
	case failed.Status == http.StatusRequestEntityTooLarge:
		kind = blob.TooLarge
	case failed.Status >= 500, failed.Status == http.StatusTooManyRequests, failed.Status == http.StatusRequestTimeout, failed.Status == http.StatusConflict:
		kind = blob.Unreachable
	default:
		kind = blob.Denied
	}
	if kind == blob.Missing {
		return kind, nil
	}
	hint := ""
	if r.Code == "AccessDenied" {
		hint = " (S3 also answers so if the object does not exist and the role lacks s3:ListBucket)"
	}
	return kind, fmt.Errorf("HTTP %d %.50s: %.300s%s", failed.Status, r.Code, r.Message, hint)
}

// withoutURL returns the cause of a *url.Error, whose text has a URL.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
