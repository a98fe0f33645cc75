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
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/wire"
)

const maxSaid = 1000 // bytes of what a server left behind that are shown

// The codes by which the library marks failures of its own.
const (
	codeClosing  = -32003 // and -32004
	codeRejected = -32005
)

// errForgotten says that a server behind HTTP no longer knows the session.
var errForgotten = errors.New("the server has forgotten the session")

// failed is the error of a call or a question as a model can act on it. What
// tells of the service and not of the call is marked as its trouble.
func (s *session) failed(ctx context.Context, err error) error {
	if errors.Is(err, wire.ErrBlocked) {
		return tool.Definite(fmt.Errorf("%w; its author may name it by address, or under allow_private or allow_hosts", plainly(err)))
	}
	if ctx.Err() != nil {
		return tool.UnknownOutcome(fmt.Errorf("the call was stopped: %w", ctx.Err()))
	}
	if errors.Is(err, sdk.ErrSessionMissing) {
		s.broken.Store(true)
		return tool.Definite(tool.Unavailable(errForgotten))
	}
	if e := answered(err); e != nil {
		return plainly(e)
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code == codeRejected && s.alive() {
		return rejected(err, withAbout(fmt.Errorf("the server did not answer: %w", plainly(err)), s.carrier.about()))
	}
	if unreadable(err) && s.alive() {
		return fmt.Errorf("the server answered the call, but its answer cannot be read: %w", plainly(err))
	}
	s.broken.Store(true)
	return tool.Unavailable(tool.UnknownOutcome(fmt.Errorf("in the middle of the call %w", s.lost(err))))
}

// rejected marks what the transport says of a request that was not answered over
// HTTP. Without an error of the request there was an answer, with a status that
// refuses it.
func rejected(cause, told error) error {
	told = tool.Unavailable(told)
	if _, sent := errors.AsType[*url.Error](cause); !sent {
		return told
	}
	if op, ok := errors.AsType[*net.OpError](cause); ok && op.Op == "dial" {
		return tool.Definite(told)
	}
	return tool.UnknownOutcome(told)
}

// unknownContent matches the errors of the library about a block of content that
// it cannot read. It has no type for them. The connection is not affected.
var unknownContent = regexp.MustCompile(`(unrecognized|invalid) content type|nil content`)

// unreadable says whether an answer came that cannot be decoded.
func unreadable(err error) bool {
	_, badBytes := errors.AsType[base64.CorruptInputError](err)
	_, badType := errors.AsType[*json.UnmarshalTypeError](err)
	return badBytes || badType || unknownContent.MatchString(err.Error())
}

// answered is the error that the server itself answered with, or nil.
func answered(err error) *jsonrpc.Error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code <= codeClosing && e.Code >= codeRejected || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return e
}

// aside is what the library tells of itself in its errors.
var aside = regexp.MustCompile(`rejected by transport: |^((calling |sending )?"[a-zA-Z/]+": )+`)

// plainly is an error without the words of the library around it.
func plainly(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok { // around it stands what was asked, and how
		return fmt.Errorf("%s cannot be reached: %w", at(e.URL), e.Err)
	}
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		return errors.New("the connection ended before the answer")
	}
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code <= codeClosing && e.Code >= codeRejected {
		return errors.New(aside.ReplaceAllString(err.Error(), ""))
	}
	switch said := tail(e.Message); e.Code {
	case jsonrpc.CodeMethodNotFound:
		return fmt.Errorf("the server does not know the request: %s", said)
	case jsonrpc.CodeInvalidParams:
		return fmt.Errorf("the server refuses the request: %s", said)
	default:
		return fmt.Errorf("the server answered with an error: %s (code %d)", said, e.Code)
	}
}

// at is the server of an address, without what may be secret in the rest.
func at(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "the address"
	}
	return u.Scheme + "://" + u.Host
}

// tail is the end of a text, where programs say what was fatal.
func tail(s string) string {
	if len(s) <= maxSaid {
		return s
	}
	return "…" + text.Tail(s, maxSaid)
}
