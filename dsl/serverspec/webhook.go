package serverspec

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
)

// maxWebhooks is the maximum number of webhooks of a server.
const maxWebhooks = 100

var webhookURL = text.Regexp(language.WebhookURLPattern)

// inlineSecrets hides the secrets of webhooks that are written in the server file. The decoder
// reports their keys.
func (b *compiler) inlineSecrets() {
	for _, hook := range entries(b.tree.Get("notify")) {
		for _, e := range hook.Value.Entries {
			if e.Value.IsScalar() && (isPlainKey(e.Key) || e.Key == "signing_secret") {
				hide(b.Report, e.Value)
			}
		}
		for _, e := range entries(hook.Value.Get("headers")) {
			if e.Value.IsScalar() {
				hide(b.Report, e.Value)
			}
		}
	}
}

// findSecrets reports literals that look like keys, with hints that fit a server.
func (b *compiler) findSecrets() {
	before := len(b.Report.List)
	b.FindSecrets(b.tree)
	for i := before; i < len(b.Report.List); i++ {
		b.Report.List[i].Hint = "a server file must not contain secrets; a webhook takes them from environment variables: url_env, secret_env, headers_env"
	}
}

// entries returns the entries of a mapping, which may be missing.
func entries(v *syntax.Node) []*syntax.Entry {
	if v == nil {
		return nil
	}
	return v.Entries
}

// webhooks decodes the receivers of events.
func (b *compiler) webhooks() {
	section := b.Section("notify", b.keys.Notify)
	if n := len(section.Entries); n > maxWebhooks {
		b.Report.Error(diag.TooLarge, b.keys.Notify.Position, "the server has %d webhooks; the maximum is %d", n, maxWebhooks)
	}
	for _, e := range section.Entries[:min(len(section.Entries), maxWebhooks)] {
		b.CheckName(e, "a webhook")
		b.webhook(e)
	}
}

func (b *compiler) webhook(e *syntax.Entry) {
	path := "notify." + e.Key
	if e.Value.Kind == syntax.Text {
		b.WrongType(e.Value, path, "a mapping").Hint = "write " + e.Key + ": {events: [run.completed], url: URL, secret_env: WEBHOOK_SECRET}"
		return
	}
	k := language.WebhookKeys{}
	b.Decode(e.Value, path, &k)
	h := Webhook{
		Name: e.Key, Events: k.Events, URL: k.URL, URLEnv: k.URLEnv, SecretEnv: k.SecretEnv, HeadersEnv: k.HeadersEnv,
		Agents: k.Agents, Tenants: k.Tenants, Position: testspec.PositionOf(e.Position),
	}
	b.events(e.Value, k.Events)
	b.receiver(e, path, &k)
	b.variables(e.Value, path, &k)
	b.onlyAgents(e.Value, k.Agents)
	b.onlyTenants(e.Value, k.Tenants)
	h.Allow = b.networks(e.Value, k.Allow)
	b.config.Webhooks = append(b.config.Webhooks, h)
}

// otherEvents are types of events that people expect, and the right ones.
var otherEvents = map[string]engine.EventType{
	"run.failed": engine.RunCompleted, "run.stopped": engine.RunCompleted, "run.cancelled": engine.RunCompleted, "run.ended": engine.RunCompleted,
	"run.finished": engine.RunCompleted, "run.succeeded": engine.RunCompleted,
	"question": engine.InterruptRaised, "question.asked": engine.InterruptRaised, "approval": engine.InterruptRaised, "approval.requested": engine.InterruptRaised,
	"approval.required": engine.InterruptRaised, "run.interrupted": engine.InterruptRaised, "run.waiting": engine.InterruptRaised,
}

// events checks the types of events.
func (b *compiler) events(v *syntax.Node, types []string) {
	known := language.WebhookEvents()
	for i, s := range types {
		at := v.Get("events").Items[i]
		switch right, ok := otherEvents[s]; {
		case slices.Index(types, s) < i:
			b.Report.Warn(diag.Unused, at.Position, "event type %s is listed twice", s).Hint = "remove one of them"
		case slices.Contains(known, s):
		case slices.Contains(engine.EventTypes(), engine.EventType(s)):
			b.Report.Error(diag.NotAllowed, at.Position, "%s cannot be sent: its events are transient, and not stored with the run", s).Hint = "remove it; a feed of the run has these events"
		case ok && right == engine.RunCompleted:
			b.Report.Error(diag.NotAllowed, at.Position, "unknown event type %s", syntax.Quote(s)).Hint = "write run.completed: every run ends with it, and its status says how"
		case ok:
			b.Report.Error(diag.NotAllowed, at.Position, "unknown event type %s", syntax.Quote(s)).Hint = "write " + string(right) + ": a question to a human is open"
		default:
			b.Report.Error(diag.NotAllowed, at.Position, "unknown event type %s", syntax.Quote(s)).Advice = diag.SuggestNear(s, known, "use "+strings.Join(known, ", "))
		}
	}
}

// receiver checks the address of a webhook.
func (b *compiler) receiver(e *syntax.Entry, path string, k *language.WebhookKeys) {
	v, other := e.Value.Get("url"), e.Value.Get("url_env")
	switch {
	case v == nil && other == nil && e.Value.Kind == syntax.Map && !b.Intended[path+".url"] && !b.Intended[path+".url_env"]:
		b.Report.Error(diag.MissingKey, e.Value.Position, "%s has neither url nor url_env", path).Hint = "write url: https://hooks.example.com/pex, or url_env: NAME if the address contains a secret"
	case v != nil && other != nil:
		b.Report.Error(diag.Exclusive, other.Position, "%s has both url and url_env", path).Hint = "remove one of them"
	case v != nil && v.Kind == syntax.Text:
		if problem, hint := CheckWebhookURL(k.URL); problem != "" {
			b.Report.Error(diag.NotAllowed, v.Position, "invalid URL for %s.url: %s", path, problem).Hint = hint
		}
	}
}

// CheckWebhookURL returns what is wrong with the URL of a webhook, without showing it, and how
// to fix it; "" if it is valid.
func CheckWebhookURL(s string) (problem, hint string) {
	u, err := url.Parse(s)
	switch {
	case err == nil && u.User != nil:
		return "it contains a user name", "send credentials in a header: headers_env: {Authorization: VARIABLE}"
	case strings.Contains(s, "${"):
		return "it contains ${...}, which a server file does not replace", "to read the URL from an environment variable, write url_env: NAME"
	case err == nil && u.Fragment != "":
		return "it has a fragment, which is never sent", "remove # and what follows"
	case err != nil || !webhookURL().MatchString(s) || u.Hostname() == "":
		return "it is not an http or https URL", "write an address such as https://hooks.example.com/pex"
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		return "http is only for loopback addresses, since others could read the messages", "use https"
	}
	return "", ""
}

// variables checks the names of environment variables and headers.
func (b *compiler) variables(v *syntax.Node, path string, k *language.WebhookKeys) {
	for _, x := range [][2]string{{"url_env", k.URLEnv}, {"secret_env", k.SecretEnv}} {
		if at := v.Get(x[0]); at != nil && at.Kind == syntax.Text {
			b.variable(at, path+"."+x[0], x[1])
		}
	}
	for _, e := range entries(v.Get("headers_env")) {
		switch name := strings.ToLower(e.Key); {
		case !headerName().MatchString(e.Key):
			b.Report.Error(diag.NotAllowed, e.Position, "invalid header %s in %s.headers_env", syntax.Quote(e.Key), path).Hint = "write the name of a header, such as Authorization"
		case slices.Contains(ownHeaders, name):
			b.Report.Error(diag.NotAllowed, e.Position, "%s.headers_env cannot set %s, which every message has", path, e.Key).Hint = "remove it"
		}
		if e.Value.Kind == syntax.Text {
			b.variable(e.Value, path+".headers_env."+e.Key, e.Value.Text)
		}
	}
}

// ownHeaders are headers of every message.
var ownHeaders = []string{"connection", "content-length", "content-type", "host", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "webhook-id", "webhook-signature", "webhook-timestamp"}

// variable checks the name of an environment variable, which may be its value by mistake.
func (b *compiler) variable(v *syntax.Node, path, name string) {
	if language.EnvName().MatchString(name) && !strings.HasPrefix(name, "whsec_") {
		return
	}
	hide(b.Report, v)
	b.Report.Error(diag.BadName, v.Position, "%s must be the name of an environment variable", path).Hint = "write its name, such as WEBHOOK_SECRET, and store the value in that variable"
}

// onlyAgents checks the agents whose runs a webhook is about.
func (b *compiler) onlyAgents(v *syntax.Node, names []string) {
	var known []string
	for _, a := range b.config.Agents {
		known = append(known, a.Name)
	}
	for i, name := range names {
		if len(known) == 0 || slices.Contains(known, name) { // without agents, the specs are not known here
			continue
		}
		b.Report.Error(diag.UnknownAgent, v.Get("agents").Items[i].Position, "unknown agent %s", syntax.Quote(name)).Advice = diag.Suggest(name, known)
	}
}

// onlyTenants checks the tenants whose runs a webhook is about.
func (b *compiler) onlyTenants(v *syntax.Node, names []string) {
	for i, name := range names {
		if slices.Contains(b.config.Tenants.Known, name) {
			continue
		}
		b.Report.Error(diag.UnknownRole, v.Get("tenants").Items[i].Position, "unknown tenant %s", syntax.Quote(name)).Advice = diag.Suggest(name, b.config.Tenants.Known)
	}
}

// networks parses the networks in which a receiver may be.
func (b *compiler) networks(v *syntax.Node, all []string) (out []netip.Prefix) {
	for i, s := range all {
		p, err := netip.ParsePrefix(s)
		if err == nil && p == p.Masked() {
			out = append(out, p)
			continue
		}
		d := b.Report.Error(diag.NotAllowed, v.Get("allow").Items[i].Position, "invalid network %s", syntax.Quote(s))
		d.Hint = "write an address and the length of its prefix, such as 10.0.0.0/8"
		if err == nil {
			d.Hint = "write " + p.Masked().String()
		} else if a, no := netip.ParseAddr(s); no == nil {
			d.Hint = fmt.Sprintf("for this one address, write %s/%d", a, a.BitLen())
		}
	}
	return out
}
