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

// Causes for errors.Is.
var (
	// ErrTooLarge means that a body exceeded its maximum size after decompression.
	ErrTooLarge = errors.New("body too large")
	// ErrBlocked means that the guard rejected the host or the address.
	ErrBlocked = errors.New("address not allowed")
	// ErrRedirect means that a redirect was not followed.
	ErrRedirect = errors.New("redirect refused")
)

// Error is a failed request. Message and Body are safe to show: the secrets of the client's settings are redacted.
type Error struct {
	Kind       model.ErrorKind
	Status     int           // HTTP status; 0 = no response
	RetryAfter time.Duration // wait that the server asked for, at most MaxRetryAfter
	RequestID  string        // the server's id of the request
	Code       string        // the server's error code, if a header has it
	Message    string
	Body       []byte // of an error response, at most 64 KiB
	Final      bool   // the same request would fail again, whatever the kind
	NotSent    bool   // nothing of the request was sent
	Err        error

	silent bool // the server had not started to respond
}

// Error returns the message, with the status if there is one.
func (e *Error) Error() string {
	if e.Status == 0 {
		return e.Message
	}
	return fmt.Sprintf("HTTP %d: %s", e.Status, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later.
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

// unanswered converts the error of a request without a response.
func unanswered(host string, err error) *Error {
	e := &Error{Kind: model.NetworkError, Message: "no response from " + host + ": " + err.Error(), Err: err}
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		e.Final = true
		e.Message = "unknown host " + name.Name
	}
	if hint, final := tlsHint(err); hint != "" {
		e.Final = e.Final || final
		e.Message += ": " + hint
	}
	return e
}

const clientCertHint = "set PEX_CLIENT_CERT=file.pem, and PEX_CLIENT_KEY=file.pem to its key"

// tlsHint returns how to fix a failed TLS handshake or proxy connection, or "" for other errors. final reports that
// it would fail again.
func tlsHint(err error) (hint string, final bool) {
	var unknown x509.UnknownAuthorityError
	var cert *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var remote *net.OpError
	proxied := errors.As(err, &remote) && remote.Op == "proxyconnect"
	switch {
	case errors.As(err, &unknown):
		return "if your own CA signed it, set PEX_CA_FILE=file.pem to the CA's certificate", true
	case errors.As(err, &cert):
		return "its certificate is not valid for this address or date: fix the certificate, or check base_url and this machine's clock", true
	case proxied && errors.As(err, &plain):
		return "the proxy does not use TLS: should HTTPS_PROXY or HTTP_PROXY begin with http://?", true
	case errors.As(err, &plain):
		return "the server does not use TLS: should base_url begin with http://?", true
	case errors.As(err, &remote) && remote.Op == "remote error" && strings.Contains(err.Error(), "certificate"):
		return "the server requires a client certificate: " + clientCertHint, true
	case errors.As(err, &remote) && remote.Op == "remote error" && strings.Contains(err.Error(), "handshake failure"):
		return "the server may require a client certificate: " + clientCertHint, true
	case strings.Contains(err.Error(), "http2: client conn could not be established"): // which hides the reason
		return "the server may require a client certificate: " + clientCertHint, false
	case proxied:
		return "check HTTPS_PROXY and HTTP_PROXY", false
	}
	return "", false
}

// IsUnavailable reports whether an error means that the server is unavailable, whatever the request was: no address,
// no connection, or a timeout. Requests rejected by the guard do not count.
func IsUnavailable(err error) bool {
	for _, own := range []error{ErrBlocked, ErrRedirect, ErrTooLarge} {
		if errors.Is(err, own) {
			return false
		}
	}
	_, network := errors.AsType[net.Error](err)
	return network
}

// IsUnavailableStatus reports whether a gateway reports that its server is unavailable: 502, 503 and 504.
func IsUnavailableStatus(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}
