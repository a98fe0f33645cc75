package httpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// watcher ends an attempt that exceeds one of its time limits: first byte, idle body, total.
type watcher struct {
	parent context.Context // the caller's
	ctx    context.Context // the attempt's
	cancel context.CancelCauseFunc
	first  *time.Timer
	total  *time.Timer
	quiet  *time.Timer // active while a read waits
	idle   time.Duration
}

func watch(parent context.Context, s Settings) *watcher {
	w := &watcher{parent: parent, idle: s.Idle}
	w.ctx, w.cancel = context.WithCancelCause(parent)
	w.first = w.after(s.FirstByte, model.CallTimeout, "no answer within %s")
	w.total = w.after(s.Total, model.CallTimeout, "not done within %s")
	return w
}

func (w *watcher) after(d time.Duration, k model.ErrorKind, format string) *time.Timer {
	return time.AfterFunc(d, func() {
		w.cancel(&Error{Kind: k, Message: fmt.Sprintf(format, d)})
	})
}

// arrived stops the limit for the first byte.
func (w *watcher) arrived() { w.first.Stop() }

// reading starts the limit of one read. The returned function stops it.
func (w *watcher) reading() (done func() bool) {
	if w.quiet == nil {
		w.quiet = w.after(w.idle, model.Truncated, "no data for %s")
	} else {
		w.quiet.Reset(w.idle)
	}
	return w.quiet.Stop
}

func (w *watcher) end() {
	w.first.Stop()
	w.total.Stop()
	if w.quiet != nil {
		w.quiet.Stop()
	}
	w.cancel(nil)
}

// body is a response body with time limits and a maximum size. Its errors are typed.
type body struct {
	cappedBody
	watch  *watcher
	client *Client
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	done := b.watch.reading()
	n, err := b.cappedBody.Read(p)
	done()
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, b.client.failed(b.watch, &Error{Kind: model.Truncated, Message: "the response ended early: " + err.Error(), Err: err})
}

// Close implements io.Closer.
func (b *body) Close() error {
	err := b.cappedBody.Close()
	b.watch.end()
	return err
}

// cappedBody returns ErrTooLarge after a maximum number of bytes.
type cappedBody struct {
	io.ReadCloser
	most int64
	seen int64
	text bool  // an event stream of lines
	line int64 // bytes of the current line so far
}

// Read implements io.Reader.
func (b *cappedBody) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if room := b.most - b.seen + 1; int64(len(p)) > room {
		p = p[:max(room, 0)]
	}
	if len(p) == 0 {
		return 0, b.tooLarge()
	}
	n, err := b.ReadCloser.Read(p)
	b.seen += int64(n)
	if b.seen > b.most {
		return n - 1, b.tooLarge()
	}
	if b.text && b.long(p[:n]) {
		return n, &Error{Kind: model.BadReply, Final: true, Err: ErrTooLarge, Message: fmt.Sprintf("a line of the stream is larger than %d bytes", maxLine)}
	}
	return n, err
}

// long updates the length of the current line and reports whether it is too long.
func (b *cappedBody) long(piece []byte) bool {
	if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
		piece, b.line = piece[i+1:], 0
	}
	b.line += int64(len(piece))
	return b.line > maxLine
}

func (b *cappedBody) tooLarge() error {
	return &Error{Kind: model.BadReply, Final: true, Err: ErrTooLarge, Message: fmt.Sprintf("the body is larger than %d bytes", b.most)}
}
