package serve

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// heartbeat is how often a call reports progress at least: clients give up on calls that
// report none.
const heartbeat = 15 * time.Second

// progress sends the progress of a call to a client that asked for it.
type progress struct {
	ctx     context.Context
	session *sdk.ServerSession
	token   any // nil = the client wants no progress
	end     context.CancelFunc

	mu   sync.Mutex
	sent int
	last string
}

// newProgress returns the progress of a call. The caller must stop it.
func newProgress(ctx context.Context, req *sdk.CallToolRequest) *progress {
	p := &progress{session: req.Session, token: req.Params.GetProgressToken()}
	p.ctx, p.end = context.WithCancel(ctx)
	if p.token != nil {
		go p.beat()
	}
	return p
}

// stop ends the heartbeat. Nothing is sent after it.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

// report returns a function that sends a line, or nil if the client wants none.
func (p *progress) report() func(line string) {
	if p.token == nil {
		return nil
	}
	return p.send
}

func (p *progress) send(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	p.sent++
	p.last = line
	_ = p.session.NotifyProgress(p.ctx, &sdk.ProgressNotificationParams{ProgressToken: p.token, Progress: float64(p.sent), Message: line}) // the client may be gone
}

// beat repeats the last line until the call ends.
func (p *progress) beat() {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.mu.Lock()
			line := p.last
			p.mu.Unlock()
			p.send(line)
		case <-p.ctx.Done():
			return
		}
	}
}
