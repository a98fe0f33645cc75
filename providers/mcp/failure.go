package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient"
)

const maxErrorText = 1000 // bytes of a server's text shown in an error

// Codes of the library's own failures.
const (
	codeClosing  = -32003 // and -32004
	codeRejected = -32005
)

// errSessionExpired reports that an HTTP server no longer knows the session.
var errSessionExpired = errors.New("the server no longer knows the session")

// callError returns the error of a call or question in a form that a model can act on. Errors of the server as a whole
// are marked as unavailable.
func (s *session) callError(ctx context.Context, err error) error {
	if errors.Is(err, httpclient.ErrBlocked) {
		return tool.Definite(fmt.Errorf("%w; to allow it, write its IP address in url, or set allow_private or allow_hosts", plainError(err)))
	}
	if ctx.Err() != nil {
		return tool.UnknownOutcome(fmt.Errorf("the call was stopped: %w", ctx.Err()))
	}
	if errors.Is(err, sdk.ErrSessionMissing) {
		s.broken.Store(true)
		return tool.Definite(tool.Unavailable(errSessionExpired))
	}
	if e := serverError(err); e != nil {
		return plainError(e)
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code == codeRejected && s.healthy() {
		return requestRejected(err, withDetail(fmt.Errorf("the server did not respond: %w", plainError(err)), s.conn.diagnostics()))
	}
	if isDecodeError(err) && s.healthy() {
		return fmt.Errorf("the server replied, but the reply cannot be decoded: %w", plainError(err))
	}
	s.broken.Store(true)
	return tool.Unavailable(tool.UnknownOutcome(fmt.Errorf("during the call, %w", s.closeError(err))))
}

// requestRejected classifies the error of an HTTP request without a reply. Without a
// *url.Error there was a response, with a status that refuses the request.
func requestRejected(cause, failure error) error {
	failure = tool.Unavailable(failure)
	if _, sent := errors.AsType[*url.Error](cause); !sent {
		return failure
	}
	if op, ok := errors.AsType[*net.OpError](cause); ok && op.Op == "dial" {
		return tool.Definite(failure)
	}
	return tool.UnknownOutcome(failure)
}

// unknownContent matches the library's errors about content blocks that it cannot decode;
// they have no type. The connection stays usable.
var unknownContent = text.Regexp(`(unrecognized|invalid) content type|nil content`)

// isDecodeError reports whether a reply arrived that cannot be decoded.
func isDecodeError(err error) bool {
	_, badBytes := errors.AsType[base64.CorruptInputError](err)
	_, badType := errors.AsType[*json.UnmarshalTypeError](err)
	return badBytes || badType || unknownContent().MatchString(err.Error())
}

// serverError returns the error that the server itself replied with, or nil.
func serverError(err error) *jsonrpc.Error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code <= codeClosing && e.Code >= codeRejected || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return e
}

// libraryPrefix matches the text that the library prepends to errors.
var libraryPrefix = text.Regexp(`rejected by transport: |^((calling |sending )?"[a-zA-Z/]+": )+`)

// plainError returns an error without the library's text around it.
func plainError(err error) error {
	if e, ok := errors.AsType[*httpclient.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok { // its own text repeats the request
		return fmt.Errorf("%s cannot be reached: %w", originOf(e.URL), e.Err)
	}
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		return errors.New("the connection closed before the reply")
	}
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code <= codeClosing && e.Code >= codeRejected {
		return errors.New(libraryPrefix().ReplaceAllString(err.Error(), ""))
	}
	switch message := tail(e.Message); e.Code {
	case jsonrpc.CodeMethodNotFound:
		return fmt.Errorf("the server does not support the request: %s", message)
	case jsonrpc.CodeInvalidParams:
		return fmt.Errorf("the server rejected the request: %s", message)
	default:
		return fmt.Errorf("the server returned an error: %s (code %d)", message, e.Code)
	}
}

// originOf returns scheme and host of a URL; the rest may contain secrets.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "the address"
	}
	return u.Scheme + "://" + u.Host
}

// tail returns the end of a text, where programs print the fatal error.
func tail(s string) string {
	if len(s) <= maxErrorText {
		return s
	}
	return "…" + text.Tail(s, maxErrorText)
}
