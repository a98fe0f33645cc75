package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// Causes that a caller may ask for with errors.Is.
var (
	// ErrTooLarge says that a body went past its cap, counted after decompression.
	ErrTooLarge = errors.New("body too large")
	// ErrBlocked says that the guard refused the host or the address.
	ErrBlocked = errors.New("address not allowed")
	// ErrRedirect says that a redirect was not followed.
	ErrRedirect = errors.New("redirect refused")
)

// Error is a failed request. Message and Body are safe to show: the secrets
// of the client's settings are replaced in them.
type Error struct {
	Kind       model.ErrorKind
	Status     int           // HTTP status, 0 = there was no answer
	RetryAfter time.Duration // what the server asked for, at most MaxRetryAfter
	RequestID  string        // the server's name of the request
	Code       string        // the server's name of the failure, where a header says it
	Message    string
	Body       []byte // of a refusal, at most 64 KiB
	Final      bool   // the same request would fail again, whatever the kind says
	NotSent    bool   // nothing of the request has left
	Err        error

	silent bool // the server had not begun to answer
}

// Error is the message, with the status where there was one.
func (e *Error) Error() string {
	if e.Status == 0 {
		return e.Message
	}
	return fmt.Sprintf("HTTP %d: %s", e.Status, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether the same request may succeed a moment later.
func (e *Error) Retryable() bool {
	return !e.Final && e.Kind.Retryable()
}

// KindOf classifies an HTTP status of 400 and above.
func KindOf(status int) model.ErrorKind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired, http.StatusProxyAuthRequired:
		return model.AuthError
	case http.StatusNotFound, http.StatusGone:
		return model.NotFound
	case http.StatusRequestEntityTooLarge:
		return model.ContextTooLong
	case http.StatusTooManyRequests:
		return model.RateLimited
	case http.StatusServiceUnavailable, 529:
		return model.Overloaded
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return model.ServerError
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return model.BadRequest
	}
	if status >= 500 {
		return model.ServerError
	}
	return model.BadRequest
}

// unanswered types a request that got no answer.
func unanswered(host string, err error) *Error {
	e := &Error{Kind: model.NetworkError, Message: "no answer from " + host + ": " + err.Error(), Err: err}
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		e.Final = true
		e.Message = "no host is named " + name.Name
	}
	if hint, final := mend(err); hint != "" {
		e.Final = e.Final || final
		e.Message += ": " + hint
	}
	return e
}

const present = "name one by PEX_CLIENT_CERT=file.pem and its key by PEX_CLIENT_KEY=file.pem"

// mend is the way out of a connection that TLS refused, or a proxy did not take,
// "" for any other; final says that it would be refused again.
func mend(err error) (hint string, final bool) {
	var unknown x509.UnknownAuthorityError
	var cert *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var remote *net.OpError
	proxied := errors.As(err, &remote) && remote.Op == "proxyconnect"
	switch {
	case errors.As(err, &unknown):
		return "if it is right that your own CA signs it, name the CA's certificate by PEX_CA_FILE=file.pem", true
	case errors.As(err, &cert):
		return "its certificate is not one for this address and this day: mend it there, or check base_url and this machine's clock", true
	case proxied && errors.As(err, &plain):
		return "the proxy speaks no TLS there: is HTTPS_PROXY or HTTP_PROXY to begin with http://?", true
	case errors.As(err, &plain):
		return "it speaks no TLS there: is base_url to begin with http://?", true
	case errors.As(err, &remote) && remote.Op == "remote error" && strings.Contains(err.Error(), "certificate"):
		return "it wants a certificate that it knows: " + present, true
	case errors.As(err, &remote) && remote.Op == "remote error" && strings.Contains(err.Error(), "handshake failure"):
		return "it may want a certificate that it knows: " + present, true
	case strings.Contains(err.Error(), "http2: client conn could not be established"): // which hides why
		return "it may want a certificate that it knows: " + present, false
	case proxied:
		return "is that the proxy that HTTPS_PROXY or HTTP_PROXY is to name?", false
	}
	return "", false
}

// IsUnavailable says that an error tells of a server that is not there, and not of what
// it was asked: no address, no connection, no answer in time. What the guard
// refused was never asked.
func IsUnavailable(err error) bool {
	for _, own := range []error{ErrBlocked, ErrRedirect, ErrTooLarge} {
		if errors.Is(err, own) {
			return false
		}
	}
	_, network := errors.AsType[net.Error](err)
	return network
}

// IsUnavailableStatus says the same of a status: 502, 503 and 504, by which a gateway
// speaks for a server behind it.
func IsUnavailableStatus(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}
