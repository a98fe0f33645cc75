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

// watcher ends an attempt that takes too long: first byte, idle body, total.
type watcher struct {
	parent context.Context // the caller's
	ctx    context.Context // the attempt's
	cancel context.CancelCauseFunc
	first  *time.Timer
	total  *time.Timer
	quiet  *time.Timer // runs while a read waits
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

// arrived says that the answer's header is there.
func (w *watcher) arrived() { w.first.Stop() }

// reading starts the limit of one read; the returned func ends it.
func (w *watcher) reading() (done func() bool) {
	if w.quiet == nil {
		w.quiet = w.after(w.idle, model.Truncated, "nothing more came for %s")
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

// body is the body of an answer under watch: it is capped, and its errors are typed.
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
	return n, b.client.failed(b.watch, &Error{Kind: model.Truncated, Message: "the answer broke off: " + err.Error(), Err: err})
}

// Close implements io.Closer.
func (b *body) Close() error {
	err := b.cappedBody.Close()
	b.watch.end()
	return err
}

// cappedBody gives at most so many bytes, then ErrTooLarge.
type cappedBody struct {
	io.ReadCloser
	most int64
	seen int64
	text bool  // an event stream of lines
	line int64 // bytes of the line that is being read
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

// long counts the line that a piece ends in, and says whether there is no end to it.
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
