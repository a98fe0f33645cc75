package serverspec

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/text"
)

// tenants checks the tenants.
func (b *compiler) tenants() {
	k := b.keys.Tenants
	if k.Known == nil {
		k.Known = []string{k.Default}
	}
	b.config.Tenants = Tenants(k)
	section := b.tree.Get("tenants")
	if v := section.Get("default"); v != nil {
		b.name(v, k.Default, "a tenant")
	}
	known := section.Get("known")
	if known == nil || known.Kind != syntax.List {
		return
	}
	first := map[string]syntax.Position{}
	for i, v := range known.Items {
		b.name(v, k.Known[i], "a tenant")
		if at, ok := first[k.Known[i]]; ok {
			b.Report.Error(diag.DuplicateKey, v.Position, "duplicate tenant %s; the first one is at %s", syntax.Quote(k.Known[i]), syntax.Where(at)).Hint = "remove one of them"
		}
		first[k.Known[i]] = v.Position
	}
	if !slices.Contains(k.Known, k.Default) && len(k.Known) > 0 {
		d := b.Report.Error(diag.UnknownRole, b.at("tenants", "default"), "the default tenant %s is not in tenants.known", syntax.Quote(k.Default))
		if d.Hint = "add it to known"; section.Get("default") == nil {
			d.Hint = "write default: " + k.Known[0] + ", or add " + k.Default + " to known"
		}
	}
}

// needsAuth reports settings that have no protection without auth.
func (b *compiler) needsAuth() {
	if b.hasAuth {
		return
	}
	for _, a := range b.config.Agents {
		if v := b.tree.Get("agents").Get(a.Name).Get("roles"); len(a.Roles) > 0 {
			b.Report.Error(diag.Exposed, v.Position, "agents.%s.roles requires auth: without it, every client has all roles", a.Name).Hint = addAuth
		}
		if v := b.tree.Get("agents").Get(a.Name).Get("spec"); b.restricted[a.Name] {
			b.Report.Warn(diag.NoEffect, v.Position, "no client can approve what agent %s asks: its spec has approvers or four_eyes, and without auth no client is known", a.Name).
				Hint = addAuth + "; accounts of this machine can approve with pexctl resume"
		}
	}
	for i, name := range b.keys.Tenants.Known {
		if name != b.keys.Tenants.Default {
			v := b.tree.Get("tenants").Get("known").Items[i]
			b.Report.Error(diag.Exposed, v.Position, "tenant %s requires auth: without it, every request belongs to the default tenant %s", syntax.Quote(name), syntax.Quote(b.keys.Tenants.Default)).
				Hint = addAuth + ", or remove the tenant"
			return
		}
	}
}

const addAuth = "add auth: {tokens: {file: tokens.yaml}}"

// reservedHeaders have a meaning of their own.
var reservedHeaders = []string{"accept", "authorization", "content-length", "content-type", "cookie", "host", "idempotency-key", "last-event-id", "origin"}

var headerName = text.Regexp(`^[A-Za-z][A-Za-z0-9_-]*$`)

// header checks the header that selects the tenant.
func (b *compiler) header() {
	name := b.keys.Tenants.Header
	v := b.tree.Get("tenants").Get("header")
	if name == "" || v == nil {
		return
	}
	switch {
	case !headerName().MatchString(name), slices.Contains(reservedHeaders, strings.ToLower(name)):
		b.Report.Error(diag.NotAllowed, v.Position, "invalid header %s for tenants.header", syntax.Quote(name)).Hint = "write the name of a header of your own, such as x-tenant-id"
	case len(b.config.Tenants.Known) < 2:
		b.Report.Warn(diag.NoEffect, v.Position, "tenants.header has no effect: the server has only the tenant %s", syntax.Quote(b.config.Tenants.Default)).
			Hint = "list the tenants: known: [" + b.config.Tenants.Default + ", OTHER]"
	}
}

// inlineTokens reports tokens in the server file, without showing them.
func (b *compiler) inlineTokens() {
	for _, e := range b.tree.Entries {
		if isPlainKey(e.Key) && e.Value.IsScalar() { // the decoder reports the key
			hide(b.Report, e.Value)
		}
	}
	auth := b.tree.Get("auth")
	if auth == nil {
		return
	}
	if auth.Kind == syntax.Text {
		hide(b.Report, auth)
	}
	if issuer := auth.Get("oidc"); issuer != nil {
		for _, e := range issuer.Entries {
			if e.Value.IsScalar() && (isPlainKey(e.Key) || e.Key == "client_secret") { // the decoder reports the key
				hide(b.Report, e.Value)
			}
		}
	}
	written := len(auth.Entries)
	auth.Entries = slices.DeleteFunc(auth.Entries, func(e *syntax.Entry) bool {
		if !isPlainKey(e.Key) || !e.Value.IsScalar() || e.Value.Kind == syntax.Null {
			return false
		}
		hide(b.Report, e.Value)
		b.Report.Error(diag.PlainToken, e.Value.Position, "auth.%s is a token in plain text", e.Key).
			Hint = "store its hash in a token file: auth: {tokens: {file: tokens.yaml}}; pexctl serve token new NAME prints a token and its entry"
		return true
	})
	if written > 0 && len(auth.Entries) == 0 {
		b.tree.Drop("auth") // so that nothing is missing in it
	}
	list := auth.Get("tokens")
	if list == nil {
		return
	}
	for _, v := range list.Items {
		if v.IsScalar() {
			hide(b.Report, v)
		}
		for _, e := range v.Entries {
			if e.Value.IsScalar() && (isPlainKey(e.Key) || e.Key == "sha256") {
				hide(b.Report, e.Value)
			}
		}
	}
}

// auth reads the tokens and checks what they refer to.
func (b *compiler) auth() {
	b.header()
	b.needsAuth()
	k := b.keys.Auth
	if k == nil {
		return
	}
	b.config.Auth = &Auth{}
	if b.roles == nil { // agents is not a mapping
		b.roles = map[string][]*syntax.Node{}
	}
	for i, role := range k.Roles {
		if v := b.tree.Get("auth").Get("roles").Items[i]; b.name(v, role, "a role") {
			b.roles[role] = append(b.roles[role], v)
		}
	}
	b.oidc(k.OIDC)
	if k.Tokens == nil {
		if v := b.tree.Get("auth"); k.OIDC == nil && v.Kind == syntax.Map && !b.Intended["auth.tokens"] && !b.Intended["auth.oidc"] {
			b.Report.Error(diag.MissingKey, v.Position, "auth has neither tokens nor oidc").Hint = addAuth + ", or auth: {oidc: {issuer: URL, audience: NAME}}"
		}
		return
	}
	v := b.tree.Get("auth").Get("tokens").Get("file")
	b.config.Auth.File = b.resolve(k.Tokens.File)
	if v == nil || b.config.Auth.File == "" {
		return
	}
	if name := filepath.Base(b.config.Auth.File); !specfs.IsYAML(name) {
		b.Report.Error(diag.NotAllowed, v.Position, "%s is not a visible .yaml or .yml file, so agents with tools that write files could change it", v.Text).Hint = "rename it to tokens.yaml"
		return
	}
	tree := b.env.Tokens(v, b.config.Auth.File)
	if tree == nil {
		return
	}
	before := len(b.Report.List)
	tokens := CompileTokens(b.Unit, b.env.Catalog, tree)
	if b.Report.FailedSince(before) {
		return
	}
	for i := range tokens {
		b.token(&tokens[i], tree.Get("tokens").Items[i])
	}
	b.config.Auth.Tokens = tokens
	if !b.Report.FailedSince(before) {
		b.unusedRoles()
	}
}

// unusedRoles warns about roles of agents that no token has. Tokens with the role
// admin have all roles, and an issuer may have clients with any role.
func (b *compiler) unusedRoles() {
	if b.config.Auth.OIDC != nil {
		return
	}
	used := map[string]bool{}
	for _, t := range b.config.Auth.Tokens {
		for _, role := range t.Roles {
			used[role] = true
		}
	}
	for _, role := range slices.Sorted(maps.Keys(b.roles)) {
		if used[role] || used["admin"] || isRole(role) {
			continue
		}
		d := b.Report.Warn(diag.UnknownRole, b.roles[role][0].Position, "no token in %s has the role %s", b.Files.Shown(b.config.Auth.File), syntax.Quote(role))
		d.Hint = "add the role to a token, or remove it here"
		if near := diag.Nearest(role, withRoles(used)); near != "" {
			d.Advice = diag.DidYouMean(role, near, "")
		}
	}
}

// withRoles returns the roles that every server has, and those of a map.
func withRoles[V any](more map[string]V) []string {
	out := slices.Clone(language.Actions)
	for _, role := range slices.Sorted(maps.Keys(more)) {
		if !slices.Contains(out, role) {
			out = append(out, role)
		}
	}
	return out
}

// token checks the tenant and the roles of a token.
func (b *compiler) token(t *Token, v *syntax.Node) {
	known := b.config.Tenants.Known
	switch {
	case t.Tenant == "":
		t.Tenant = b.config.Tenants.Default
	case !slices.Contains(known, t.Tenant):
		d := b.Report.Error(diag.UnknownRole, v.Get("tenant").Position, "unknown tenant %s of token %s", syntax.Quote(t.Tenant), syntax.Quote(t.Name))
		d.Advice = diag.Suggest(t.Tenant, known)
		if d.Hint == "" {
			d.Hint = "add it to tenants.known of " + b.tree.Position.Source.Name
		}
	}
	for i, role := range t.Roles {
		if _, ok := b.roles[role]; ok || isRole(role) {
			continue
		}
		b.Report.Error(diag.UnknownRole, v.Get("roles").Items[i].Position, "unknown role %s of token %s", syntax.Quote(role), syntax.Quote(t.Name)).Advice = diag.Suggest(role, withRoles(b.roles))
	}
}

// isRole reports whether a role is one that every server has.
func isRole(name string) bool { return slices.Contains(language.Actions, name) }
