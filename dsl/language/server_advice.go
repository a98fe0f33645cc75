package language

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// ServerLanguage is the config.Language of servers and token files. Their keys
// have nothing in common with those of specs, so it has its own advice.
type ServerLanguage struct{ Plain }

var _ config.Language = ServerLanguage{}

const (
	writeListen = "write listen: HOST:PORT, such as listen: 127.0.0.1:8484"
	writeTokens = "write auth: {tokens: {file: tokens.yaml}}"
	writeOIDC   = "write auth: {oidc: {issuer: https://id.example.com, audience: NAME}}"
	writeAgents = "write agents: {NAME: {spec: PATH}}"
	writeNotify = "write notify: {NAME: {events: [run.completed], url: URL, secret_env: WEBHOOK_SECRET}}"
	writeTLS    = "write tls: {cert: cert.pem, key: key.pem}"

	writeCostPerDay = "write limits: {per_tenant: {cost_per_day: USD}}"
	writeKeepRuns   = "write limits: {per_tenant: {keep_runs: 720h}}"
)

const writeSecret = "store it in an environment variable, and write secret_env: NAME"

// serverKeys maps keys that people expect, by their section, to the right one, or
// to a hint.
var serverKeys = map[string]map[string]string{
	"": {
		"addr": writeListen, "address": writeListen, "bind": writeListen, "host": writeListen, "hostname": writeListen, "port": writeListen,
		"api_key": writeTokens, "api_keys": writeTokens, "authentication": writeTokens, "bearer": writeTokens, "password": writeTokens,
		"secret": writeTokens, "token": writeTokens, "tokens": writeTokens, "users": writeTokens,
		"jwt": writeOIDC, "oauth": writeOIDC, "oauth2": writeOIDC, "openid": writeOIDC, "sso": writeOIDC, "oidc": writeOIDC,
		"agent": writeAgents, "spec": writeAgents, "specs": writeAgents,
		"callback_url": writeNotify, "callbacks": writeNotify, "hooks": writeNotify, "notifications": writeNotify, "notifiers": writeNotify, "webhook": writeNotify, "webhooks": writeNotify,
		"cert": writeTLS, "certificate": writeTLS, "https": writeTLS, "ssl": writeTLS,
		"allowed_origins": "write cors: {origins: [ORIGIN]}", "origins": "write cors: {origins: [ORIGIN]}",
		"concurrency": "write limits: {concurrent_runs: N}", "max_runs": "write limits: {concurrent_runs: N}", "workers": "write limits: {concurrent_runs: N}",
		"max_body_size": "write limits: {body: 1MiB}", "rate_limit": "write limits: {per_tenant: {runs_per_minute: N}}",
		"budget": writeCostPerDay, "max_cost": writeCostPerDay, "quota": writeCostPerDay, "retention": writeKeepRuns, "keep_runs": writeKeepRuns,
		"shutdown_timeout": "grace", "tenant": "write tenants: {default: NAME}",
		"timeout": "write grace for the time that calls may take at shutdown; limits of a run belong in its spec: limits: {max_duration: 10m}",
	},
	"agents": {"file": "spec", "path": "spec", "ref": "spec", "overrides": "set", "values": "set", "role": "roles", "permissions": "roles"},
	"auth":   {"file": writeTokens, "token_file": writeTokens, "tokens_file": writeTokens, "jwt": "oidc", "oauth": "oidc", "oauth2": "oidc", "openid": "oidc", "sso": "oidc"},
	"auth.oidc": {
		"url": "issuer", "issuer_url": "issuer", "discovery_url": "issuer", "jwks_uri": "write issuer: URL; the server finds the keys with its discovery document",
		"aud": "audience", "audiences": "audience", "client_id": "audience", "client_secret": "remove it: the server only verifies tokens, and needs no client secret",
		"user": "subject", "username": "subject", "sub": "subject", "subject_claim": "subject", "username_claim": "subject",
		"org": "tenant", "tenant_claim": "tenant", "groups": "roles", "role": "roles", "groups_claim": "roles", "roles_claim": "roles",
	},
	"tenants":           {"names": "known", "list": "known", "allowed": "known"},
	"limits":            {"max_body": "body", "max_body_size": "body", "max_header": "header", "max_runs": "concurrent_runs", "queue": "queued_runs", "streams": "watchers", "tenant": "per_tenant", "max_cost": writeCostPerDay, "budget": writeCostPerDay, "quota": writeCostPerDay, "max_connections": "connections", "retention": writeKeepRuns},
	"limits.per_tenant": {"max_cost": "cost_per_day", "budget": "cost_per_day", "daily_cost": "cost_per_day", "retention": "keep_runs", "streams": "watchers", "max_runs": "concurrent_runs"},
	"cors":              {"allowed_origins": "origins", "allow_origins": "origins"},
	"tls":               {"certificate": "cert", "cert_file": "cert", "key_file": "key", "private_key": "key"},
	"tokens":            {"client": "name", "subject": "name", "user": "name", "hash": "sha256", "digest": "sha256", "sha": "sha256", "scopes": "roles", "permissions": "roles"},
	"notify": {
		"on": "events", "event": "events", "event_types": "events", "types": "events", "when": "events",
		"address": "url", "endpoint": "url", "target": "url", "uri": "url", "webhook_url": "url",
		"secret": writeSecret, "signing_secret": writeSecret, "key": writeSecret, "token": writeSecret,
		"headers": "write headers_env: {NAME: VARIABLE}, with the environment variable of each value",
		"agent":   "agents", "tenant": "tenants", "allow_hosts": "allow", "allow_private": "allow",
		"retries": "remove it: every message has up to 8 attempts", "timeout": "remove it: an attempt takes at most 15 seconds",
	},
}

// KeyAdvice returns a suggestion for a key that is not among all keys of a path.
func (l ServerLanguage) KeyAdvice(e *syntax.Entry, path string, all []string) diag.Advice {
	section := path
	if serverKeys[section] == nil {
		section, _, _ = strings.Cut(path, ".")
		section, _, _ = strings.Cut(section, "[")
	}
	if advice := replacement(serverKeys[section][e.Key], e.Key, all); advice.Hint != "" {
		return advice
	}
	if diag.Nearest(e.Key, all) != "" {
		return diag.Suggest(e.Key, all)
	}
	for _, home := range l.Sections {
		if !slices.Contains(home.keys, e.Key) || home.path == path {
			continue
		}
		if home.path == "" {
			return diag.Advice{Hint: e.Key + " belongs at the top of the file"}
		}
		return diag.Advice{Hint: e.Key + " belongs under " + home.path}
	}
	return diag.Suggest(e.Key, all)
}
