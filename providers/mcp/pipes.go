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

// pipes is the connection to a child: a message a line each way. It is bounded
// while it is read, and a child that reads nothing holds nobody up.
type pipes struct {
	child *process.Child
	lines *lines

	sieve sieve

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
	p.lines.heard = p.sieve.heard
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
			err = p.sieve.in(m)
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
				return // the child is gone, which reading tells
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
		p.sieve.out(m)
		return nil
	case <-p.closed:
		return io.ErrClosedPipe
	case <-p.child.Ended():
		return errors.New("the server has ended")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements sdk.Connection: it does not wait for the child's end.
func (p *pipes) Close() error {
	p.once.Do(func() {
		close(p.closed)
		go p.child.Close()
	})
	return nil
}

// ended is how a child ended, which may come a moment after its last word.
func ended(child *process.Child) string {
	timer := time.NewTimer(endedSoon)
	defer timer.Stop()
	select {
	case <-child.Ended():
	case <-timer.C:
	}
	return child.Fate()
}

const endedSoon = 300 * time.Millisecond
