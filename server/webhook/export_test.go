package webhook

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/server/feed"
)

const (
	MaxAttempts = maxAttempts
	FirstWait   = firstWait
	MaxHeld     = maxHeld
	MaxLoad     = maxLoad

	MinCompaction = minCompaction
	LedgerFile    = homedir.WebhooksFolder + "/" + ledgerName
)

// WithTransport replaces the connections to receivers.
func (o Options) WithTransport(t http.RoundTripper) Options {
	o.transport = t
	return o
}

// Sign is sign.
func (s Secrets) Sign(id string, at time.Time, body []byte) string { return s.sign(id, at, body) }

// Held returns the bytes of messages that a hook holds in memory.
func (d *Dispatcher) Held(hook string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.senders[hook].held
}

// Runs returns how many runs an outbox has in memory.
func (b *Outbox) Runs() int {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return len(b.runs)
}

// Settle stores n cursors of a run in the ledger of a folder.
func Settle(dir, run string, n int) error {
	l, err := openLedger(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := l.add(run, "desk", map[string]feed.Cursor{"a": {}}); err != nil {
		return err
	}
	for i := range n {
		l.settle(run, "a", feed.Cursor{Seq: i + 1})
	}
	return l.close()
}

// ClientError is clientError.
var ClientError = clientError
