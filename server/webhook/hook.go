package webhook

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"github.com/pexctl/pex/engine"
)

// Hook says which events a receiver gets. It must not be changed once it is in use.
type Hook struct {
	Name    string
	Events  []engine.EventType
	Agents  []string // nil = all
	Tenants []string // nil = all
	URL     *url.URL
	Secrets Secrets
	Header  http.Header    // in addition to those of every message
	Allow   []netip.Prefix // networks that are not public, in which the receiver may be
}

// takes reports whether the hook is for runs of an agent of a tenant.
func (h *Hook) takes(tenant, agent string) bool {
	return (h.Agents == nil || slices.Contains(h.Agents, agent)) && h.takesTenant(tenant)
}

func (h *Hook) takesTenant(tenant string) bool {
	return h.Tenants == nil || slices.Contains(h.Tenants, tenant)
}

// wants reports whether the receiver gets an event.
func (h *Hook) wants(ev *engine.Event) bool { return slices.Contains(h.Events, ev.Type) }

// origin returns the address of the receiver without its path, which may be a secret.
func (h *Hook) origin() string { return h.URL.Scheme + "://" + h.URL.Host }
