package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/internal/process"
)

// pipes is the connection to a child process, one message per line in each direction.
// Reads are bounded, and a child that does not read does not block callers.
type pipes struct {
	child *process.Child
	lines *lineReader

	limiter notificationLimiter

	in     chan message
	out    chan []byte
	closed chan struct{}
	once   sync.Once
}

type message struct {
	m   jsonrpc.Message
	err error
}

var (
	_ sdk.Transport  = (*pipes)(nil)
	_ sdk.Connection = (*pipes)(nil)
)

func newPipes(child *process.Child, most int) *pipes {
	p := &pipes{
		child: child, lines: newLines(child.Stdout, most),
		in: make(chan message), out: make(chan []byte), closed: make(chan struct{}),
	}
	p.lines.allow = p.limiter.allow
	return p
}

// Connect implements sdk.Transport.
func (p *pipes) Connect(context.Context) (sdk.Connection, error) {
	go p.read()
	go p.write()
	return p, nil
}

// SessionID implements sdk.Connection.
func (p *pipes) SessionID() string { return "" }

func (p *pipes) read() {
	for {
		m, err := p.lines.next()
		if err == nil {
			err = p.limiter.onReceive(m)
		}
		select {
		case p.in <- message{m, err}:
		case <-p.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *pipes) write() {
	for {
		select {
		case text := <-p.out:
			if _, err := p.child.Stdin.Write(text); err != nil {
				return // the child has exited; reading reports it
			}
		case <-p.closed:
			return
		}
	}
}

// Read implements sdk.Connection.
func (p *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-p.in:
		return m.m, m.err
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements sdk.Connection.
func (p *pipes) Write(ctx context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	select {
	case p.out <- append(text, '\n'):
		p.limiter.onSend(m)
		return nil
	case <-p.closed:
		return io.ErrClosedPipe
	case <-p.child.Ended():
		return errors.New("the server has exited")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements sdk.Connection. It does not wait for the child to exit.
func (p *pipes) Close() error {
	p.once.Do(func() {
		close(p.closed)
		go p.child.Close()
	})
	return nil
}

// exitText describes how a child exited, which may become known shortly after its output ends.
func exitText(child *process.Child) string {
	timer := time.NewTimer(exitWait)
	defer timer.Stop()
	select {
	case <-child.Ended():
	case <-timer.C:
	}
	return child.ExitText()
}

const exitWait = 300 * time.Millisecond
