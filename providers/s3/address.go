package s3

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/blob"
)

// location is where blobs are, from the address of a store.
type location struct {
	bucket   string
	prefix   string   // with a slash at its end, or ""
	region   string   // "" = that of the machine
	endpoint *url.URL // of a server other than AWS; nil = AWS
}

const defaultRegion = "us-east-1" // other servers accept it

// locate parses an address. environ is the environment.
func locate(u *url.URL, environ func(string) string) (location, error) {
	l := location{bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	if l.prefix != "" {
		l.prefix += "/"
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.User != nil || u.Fragment != "" {
		return l, addressError("it has the form s3://bucket/prefix?region=REGION&endpoint=URL; credentials are found where AWS's own tools find them")
	}
	for name, values := range q {
		switch {
		case len(values) == 1 && name == "region":
			l.region = values[0]
		case len(values) == 1 && name == "endpoint":
		default:
			return l, addressError("the parameters of an s3 address are region and endpoint, each once")
		}
	}
	switch {
	case len(l.bucket) < 3 || len(l.bucket) > 63 || !consistsOf(l.bucket, lower+digits+".-"):
		return l, addressError("the name of a bucket has 3 to 63 lower-case letters, digits, dots and hyphens")
	case len(l.prefix) > 200 || !consistsOf(l.prefix, lower+upper+digits+"._-/") || strings.Contains("/"+l.prefix, "/."):
		return l, addressError("a prefix has letters, digits, dots, hyphens, underscores and slashes, and no part that starts with a dot")
	case !consistsOf(l.region, lower+digits+"-"):
		return l, addressError("the region is not valid")
	}
	if endpoint := cmp.Or(q.Get("endpoint"), environ("AWS_ENDPOINT_URL_S3"), environ("AWS_ENDPOINT_URL")); endpoint != "" {
		l.endpoint, err = url.Parse(endpoint)
		if err != nil || l.endpoint.Scheme != "http" && l.endpoint.Scheme != "https" || l.endpoint.Host == "" || l.endpoint.User != nil || strings.Trim(l.endpoint.Path, "/") != "" {
			return l, addressError("the endpoint is not valid; it is a URL such as https://storage.example.com:9000 (parameter endpoint, or AWS_ENDPOINT_URL_S3)")
		}
	}
	return l, nil
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

func consistsOf(s, characters string) bool { return strings.Trim(s, characters) == "" }

func addressError(reason string) error { return &blob.AddressError{Reason: reason} }

// regionFor returns the region for signatures.
func (l location) regionFor(ctx context.Context, s Signer) (string, error) {
	if l.region != "" {
		return l.region, nil
	}
	region, err := s.Region(ctx)
	if region == "" && l.endpoint != nil {
		return defaultRegion, nil
	}
	if region == "" && err == nil {
		err = errors.New("no AWS region: add ?region=REGION to the address, or set AWS_REGION in the environment")
	}
	return region, err
}

// object returns the URL of a blob. All characters of its path are unreserved, so that it is the same in a signature.
func (l location) object(ref blob.Ref, region string) *url.URL {
	path := "/" + l.prefix + ref.SHA256[:2] + "/" + ref.SHA256
	if l.endpoint != nil {
		return &url.URL{Scheme: l.endpoint.Scheme, Host: l.endpoint.Host, Path: "/" + l.bucket + path}
	}
	host := "s3." + region + ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		host += ".cn"
	}
	if strings.Contains(l.bucket, ".") { // the certificate does not cover it as a part of the host
		return &url.URL{Scheme: "https", Host: host, Path: "/" + l.bucket + path}
	}
	return &url.URL{Scheme: "https", Host: l.bucket + "." + host, Path: path}
}

// String returns the location for messages.
func (l location) String() string {
	s := "s3://" + l.bucket + "/" + l.prefix
	if l.endpoint != nil {
		s += " at " + l.endpoint.Host
	}
	return s
}
