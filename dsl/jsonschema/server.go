package jsonschema

import (
	"strconv"

	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
)

// server returns the schema of files of kind: Server.
func (s *writer) server() *syntax.Node {
	k, entry := language.DefaultServer(), language.DefaultServedAgent()
	body, agent := s.structOf(&k), s.structOf(&entry)
	put(agent.Get("properties"), "set", overrides())
	agent.Get("properties").Get("allow_set").Get("items").Set("pattern", syntax.Position{}, syntax.NewText(language.AllowSetPattern))
	put(agent.Get("properties").Get("expose"), "items", syntax.NewMap("enum", syntax.NewTexts(language.Protocols()...)))
	for _, action := range language.Actions {
		identityName(agent.Get("properties").Get("roles").Get("properties").Get(action).Get("items"))
	}
	p := body.Get("properties")
	put(p, "agents", named(agent))
	p.Get("public_url").Set("pattern", syntax.Position{}, syntax.NewText(language.OriginPattern))
	put(p, "notify", named(s.webhook()))
	auth := p.Get("auth")
	methods := auth.Get("properties")
	for _, section := range []*syntax.Node{auth, p.Get("tls"), methods.Get("tokens"), methods.Get("oidc")} { // null is not a section without keys
		section.Set("type", syntax.Position{}, syntax.NewText("object"))
	}
	auth.Set("anyOf", syntax.Position{}, syntax.NewList(syntax.NewMap("required", syntax.NewTexts("tokens")), syntax.NewMap("required", syntax.NewTexts("oidc"))))
	oidc := methods.Get("oidc").Get("properties")
	oidc.Get("issuer").Set("pattern", syntax.Position{}, syntax.NewText(language.IssuerPattern))
	for _, claim := range []string{"subject", "tenant", "roles"} {
		oidc.Get(claim).Set("pattern", syntax.Position{}, syntax.NewText(language.ClaimPattern))
	}
	oidc.Get("audience").Set("pattern", syntax.Position{}, syntax.NewText(`\S`))
	identityName(p.Get("tenants").Get("properties").Get("default"))
	identityName(p.Get("tenants").Get("properties").Get("known").Get("items"))
	p.Get("cors").Get("properties").Get("origins").Get("items").Set("pattern", syntax.Position{}, syntax.NewText(language.OriginPattern))
	return body
}

// webhook returns the schema of an entry of notify.
func (s *writer) webhook() *syntax.Node {
	body := s.structOf(&language.WebhookKeys{})
	p := body.Get("properties")
	put(p.Get("events"), "items", syntax.NewMap("enum", syntax.NewTexts(language.WebhookEvents()...)))
	p.Get("url").Set("pattern", syntax.Position{}, syntax.NewText(language.WebhookURLPattern))
	for _, name := range []*syntax.Node{p.Get("url_env"), p.Get("secret_env"), p.Get("headers_env").Get("additionalProperties")} {
		name.Set("pattern", syntax.Position{}, syntax.NewText(language.EnvName().String()))
	}
	identityName(p.Get("tenants").Get("items"))
	body.Set("oneOf", syntax.Position{}, syntax.NewList(syntax.NewMap("required", syntax.NewTexts("url")), syntax.NewMap("required", syntax.NewTexts("url_env"))))
	return body
}

// tokens returns the schema of files of kind: Tokens.
func (s *writer) tokens() *syntax.Node {
	body := s.structOf(&language.TokensKeys{})
	token := body.Get("properties").Get("tokens").Get("items").Get("properties")
	restrict(token.Get("name"), nameOf(language.ClientName()))
	identityName(token.Get("tenant"))
	identityName(token.Get("roles").Get("items"))
	token.Get("sha256").Set("pattern", syntax.Position{}, syntax.NewText("^[0-9A-Fa-f]{"+strconv.Itoa(language.HashDigits)+"}$"))
	return body
}

// identityName restricts a schema to the names of tenants and roles.
func identityName(v *syntax.Node) {
	restrict(v, nameOf(language.IdentityName()))
}

// restrict adds the keywords of another schema.
func restrict(v, by *syntax.Node) {
	for _, e := range by.Entries {
		v.Set(e.Key, syntax.Position{}, e.Value)
	}
}

// serverPages document servers and their tokens.
func serverPages() []Page {
	server, agent := language.DefaultServer(), language.DefaultServedAgent()
	return []Page{
		section("server", "Server", "The keys of a server of agents (`kind: Server`), which `pexctl serve` starts. A size is a whole number with a unit: `512B`, `64KiB`, `1MiB` or `2GiB`.", table(&server),
			below("`agents.<name>`", "", &agent), below("`notify.<name>`", "A webhook: a receiver of events.", &language.WebhookKeys{}), example(serverExample)),
		section("tokens", "Tokens", "The tokens of a server's clients (`kind: Tokens`). The file contains hashes; the tokens themselves are not stored.", table(&language.TokensKeys{}), example(tokensExample)),
	}
}

// example returns a section with a complete file.
func example(file string) string { return "\n## Example\n\n```yaml\n" + file + "```\n" }

const (
	serverExample = `apiVersion: pex/v1
kind: Server
metadata: {name: desk}
listen: 0.0.0.0:8484
agents:
  refund:
    spec: specs/refund-desk
    set: [limits.max_steps=10]
    allow_set: [llms.*.model]
    roles: {run: [support], approve: [finance]}
    on_busy: reject
  triage: {spec: specs/log-triage}
auth:
  tokens: {file: tokens.yaml}
  oidc: {issuer: https://id.example.com, audience: pex, subject: email, tenant: org, roles: groups}
tenants: {default: shared, known: [shared, acme], header: x-tenant-id}
limits:
  concurrent_runs: 64
  body: 1MiB
  per_tenant: {concurrent_runs: 8, runs_per_minute: 60}
cors: {origins: [https://chat.example.com]}
tls: {cert: cert.pem, key: key.pem}
notify:
  desk:
    events: [interrupt.raised, run.completed]
    url: https://hooks.example.com/pex
    secret_env: DESK_SECRET
    agents: [refund]
  audit:
    events: [run.started, run.completed]
    url_env: AUDIT_URL
    secret_env: AUDIT_SECRET
    headers_env: {Authorization: AUDIT_TOKEN}
    allow: [10.0.0.0/8]
park_after: 30s
grace: 10s
`
	tokensExample = `apiVersion: pex/v1
kind: Tokens
tokens:
  - name: ci
    sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    roles: [run]
  - name: jane@example.com
    sha256: 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752
    tenant: acme
    roles: [support, finance]
`
)
