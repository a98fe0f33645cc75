package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/internal/httpclient"
)

// closeTime is how long attempts may take to finish when a Dispatcher closes.
const closeTime = time.Second

// Options configure a Dispatcher.
type Options struct {
	TLS *tls.Config // nil = the system's certificates
	Log *slog.Logger

	transport http.RoundTripper // of tests
}

// Dispatcher sends the messages of all tenants to the receivers of its hooks. It is safe
// for concurrent use.
type Dispatcher struct {
	o       Options
	ctx     context.Context // of attempts
	cancel  context.CancelFunc
	working sync.WaitGroup

	mu      sync.Mutex // guards the fields below, and those of senders, outboxes, runs and streams
	closing bool
	senders map[string]*sender // by name of the hook
	boxes   []*Outbox
}

// New returns a Dispatcher without hooks.
func New(o Options) *Dispatcher {
	d := &Dispatcher{o: o, senders: map[string]*sender{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// SetHooks replaces the hooks. Messages for hooks that no longer exist are dropped; the others
// are sent at once, whatever the outcome of earlier attempts. A new hook gets the events
// that follow, also those of runs in progress. If the ledger of a tenant cannot be opened,
// the hooks stay as they are.
func (d *Dispatcher) SetHooks(hooks []*Hook) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(hooks) > 0 {
		for _, b := range d.boxes {
			if err := b.open(); err != nil {
				return err
			}
		}
	}
	before := d.senders
	d.senders = map[string]*sender{}
	for _, h := range hooks {
		d.senders[h.Name] = d.newSender(h)
	}
	for _, s := range before {
		s.client.CloseIdleConnections()
	}
	for _, b := range d.boxes {
		if err := b.adopt(); err != nil {
			d.o.Log.Error("store the runs of a new webhook", "tenant", b.Name, "error", err)
		}
	}
	return nil
}

// Open adds the outbox of a tenant, before the first SetHooks. Its ledger is opened when there
// is a hook.
func (d *Dispatcher) Open(t Tenant) *Outbox {
	b := &Outbox{Tenant: t, d: d, runs: map[string]*run{}, stats: map[string]*stats{}}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.boxes = append(d.boxes, b)
	return b
}

// Close ends all attempts, soon, and closes the outboxes, whose runs must have ended their
// sessions. The next start sends the messages that are left.
func (d *Dispatcher) Close() error {
	d.mu.Lock()
	d.closing = true
	for _, b := range d.boxes {
		b.stopTimers()
	}
	d.mu.Unlock()
	soon := time.AfterFunc(closeTime, d.cancel)
	d.working.Wait()
	soon.Stop()
	d.cancel()
	var errs []error
	for _, b := range d.boxes {
		if b.ledger != nil {
			errs = append(errs, b.ledger.close())
		}
	}
	return errors.Join(errs...)
}

// begin counts a goroutine that Close waits for. It returns false if there must be none. The
// caller holds mu.
func (d *Dispatcher) begin() bool {
	if d.closing {
		return false
	}
	d.working.Add(1)
	return true
}

// newSender returns the sender of a hook. It connects only to public addresses, to the one
// that the URL contains, and to those that the hook allows.
func (d *Dispatcher) newSender(h *Hook) *sender {
	settings := httpclient.GuardSettings{AllowNets: h.Allow, TLS: d.o.TLS, Stream: true}
	if _, err := netip.ParseAddr(h.URL.Hostname()); err == nil || strings.EqualFold(h.URL.Hostname(), "localhost") {
		settings.AllowHosts = []string{h.URL.Host}
	}
	client := httpclient.NewGuarded(settings)
	if d.o.transport != nil {
		client.Transport = d.o.transport
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sender{d: d, hook: h, client: client}
}
