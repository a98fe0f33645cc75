package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/engine"
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
	if ctx.Err() != nil {
		return fmt.Errorf("the call was stopped: %w", ctx.Err())
	}
	if errors.Is(err, wire.ErrBlocked) {
		return fmt.Errorf("%w; its author may name it by address, or under allow_private or allow_hosts", plainly(err))
	}
	if errors.Is(err, sdk.ErrSessionMissing) {
		s.broken.Store(true)
		return engine.Unavailable(errForgotten)
	}
	if e := answered(err); e != nil {
		return plainly(e)
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code == codeRejected && s.alive() {
		return engine.Unavailable(withAbout(fmt.Errorf("the server did not answer: %w", plainly(err)), s.carrier.about()))
	}
	s.broken.Store(true)
	return engine.Unavailable(fmt.Errorf("in the middle of the call %w", s.lost(err)))
}

// answered is the error that the server itself answered with, or nil.
func answered(err error) *jsonrpc.Error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code <= codeClosing && e.Code >= codeRejected || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return e
}

// plainly is an error without the words of the library around it.
func plainly(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code <= codeClosing && e.Code >= codeRejected {
		return errors.New(strings.TrimPrefix(strings.ReplaceAll(err.Error(), "rejected by transport: ", ""), "calling "))
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

// tail is the end of a text, where programs say what was fatal.
func tail(s string) string {
	if len(s) <= maxSaid {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-maxSaid:], "")
}
