package webhook

import (
	"net/http"
	"time"

	"github.com/pexctl/pex/internal/app/homedir"
)

const (
	MaxAttempts = maxAttempts
	FirstWait   = firstWait
	MaxHeld     = maxHeld
	MaxLoad     = maxLoad
	LedgerFile  = homedir.WebhooksFolder + "/" + ledgerName
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
