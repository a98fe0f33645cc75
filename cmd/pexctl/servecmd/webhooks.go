package servecmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/pexctl/pex/dsl/serverspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/webhook"
)

// newDispatcher returns the sender of webhooks, without hooks.
func (d *daemon) newDispatcher() error {
	certificates, err := httpclient.CertificatesOf(os.Getenv).TLS()
	if err != nil {
		return failure.Usagef("%w", err)
	}
	d.webhooks = webhook.New(webhook.Options{TLS: certificates, Log: d.log})
	return nil
}

// newOutbox returns the webhooks of a tenant, whose runs must be open.
func (d *daemon) newOutbox(t *tenant) *webhook.Outbox {
	return d.webhooks.Open(webhook.Tenant{Name: t.name, Home: t.home, Replay: func(ctx context.Context, run string, to engine.Sink) error {
		r, err := t.runs.Read(run)
		if err == nil {
			r.Watch(ctx, nil, to)
		}
		return err
	}})
}

// outbox adapts a webhook.Outbox to the interface of a manager.
type outbox struct{ *webhook.Outbox }

// Attach implements manager.Outbox.
func (o outbox) Attach(ctx context.Context, in engine.Input, isNew bool) (manager.Attachment, error) {
	return o.Outbox.Attach(ctx, in, isNew)
}

// hooks returns the webhooks of the server file, with the values of their environment
// variables, which the error does not contain.
func hooks(config *serverspec.Config, env func(string) (string, bool)) ([]*webhook.Hook, error) {
	var out []*webhook.Hook
	for _, w := range config.Webhooks {
		h, err := newHook(w, env)
		if err != nil {
			return nil, failure.Usagef("notify.%s.%w", w.Name, err)
		}
		out = append(out, h)
	}
	return out, nil
}

func newHook(w serverspec.Webhook, env func(string) (string, bool)) (*webhook.Hook, error) {
	h := &webhook.Hook{Name: w.Name, Agents: w.Agents, Tenants: w.Tenants, Allow: w.Allow, Header: http.Header{}}
	for _, name := range w.Events {
		h.Events = append(h.Events, engine.EventType(name))
	}
	address := w.URL
	if w.URLEnv != "" {
		value, err := variable("url_env", w.URLEnv, env)
		if err != nil {
			return nil, err
		}
		if problem, hint := serverspec.CheckWebhookURL(value); problem != "" {
			return nil, failure.WithHintf(fmt.Errorf("url_env: invalid URL in the environment variable %s: %s", w.URLEnv, problem), "%s", hint)
		}
		address = value
	}
	var err error
	if h.URL, err = url.Parse(address); err != nil { // was validated
		return nil, errors.New("url: invalid URL")
	}
	secrets, err := variable("secret_env", w.SecretEnv, env)
	if err != nil {
		return nil, err
	}
	if h.Secrets, err = webhook.ParseSecrets(secrets); err != nil {
		return nil, failure.WithHintf(fmt.Errorf("secret_env: the environment variable %s: %w", w.SecretEnv, err), "to make a secret: echo whsec_$(head -c 32 /dev/urandom | base64)")
	}
	for name, from := range w.HeadersEnv {
		value, err := variable("headers_env."+name, from, env)
		if err != nil {
			return nil, err
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, fmt.Errorf("headers_env.%s: the environment variable %s contains a control character", name, from)
		}
		h.Header.Set(name, value)
	}
	return h, nil
}

// variable returns the value of an environment variable that must be set.
func variable(key, name string, env func(string) (string, bool)) (string, error) {
	value, ok := env(name)
	if value = strings.TrimSpace(value); !ok || value == "" {
		return "", fmt.Errorf("%s: the environment variable %s is not set", key, name)
	}
	return value, nil
}

// warnOfAgents logs agents of webhooks that are not served. For a server file that lists its
// agents, vet has checked them.
func (d *daemon) warnOfAgents() {
	for _, w := range d.setup.config.Webhooks {
		for _, name := range w.Agents {
			if _, ok := d.agents.Get(name); !ok {
				d.log.Warn("a webhook names an agent that is not served", "webhook", w.Name, "agent", name)
			}
		}
	}
}

// setHooks uses the webhooks of the server file.
func (d *daemon) setHooks() error {
	all, err := hooks(d.setup.config, os.LookupEnv)
	if err != nil {
		return err
	}
	if err := d.webhooks.SetHooks(all); err != nil {
		return failure.Infra(err)
	}
	d.warnOfAgents()
	return nil
}
