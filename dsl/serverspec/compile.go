package serverspec

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/text"
)

// maxAgents is the maximum number of agents of a server: each has its own
// program.
const maxAgents = 1000

// Env is the environment for compiling a server.
type Env struct {
	*testspec.Env
	// Insecure allows an address that other machines can reach without auth.
	Insecure bool
	// Tokens reads the tree of a file of kind: Tokens. It returns nil after reporting
	// an error.
	Tokens func(at *syntax.Node, path string) *syntax.Node
}

// Compile decodes a tree of kind: Server, with overrides applied, and returns the
// origins of its defaults. The Config is complete only if no error was reported.
func Compile(u *config.Unit, env *Env, src *syntax.Source, tree *syntax.Node) (*Config, []config.Origin) {
	b := &compiler{
		Compiler: testspec.NewCompiler(u, env.Env, tree, src.Dir(), language.ServerSections), env: env, tree: tree, keys: language.DefaultServer(),
		config: &Config{File: src.Path, Dir: src.Dir(), Root: u.Files.Root, Position: testspec.PositionOf(tree.Position)},
	}
	b.Title, b.Quiet = "the server", false
	b.Language = language.ServerLanguage{Plain: language.Plain{Catalog: env.Catalog, Sections: language.ServerSections()}}
	b.compile()
	b.config.Files = u.ReadPaths
	return b.config, b.Defaults
}

// compiler decodes a server. Its phases run in the order of compile; each prepares
// what later ones refer to.
type compiler struct {
	*testspec.Compiler
	env    *Env
	tree   *syntax.Node
	keys   language.ServerKeys
	config *Config
	roles  map[string][]*syntax.Node // the roles that agents and auth name, and where

	restricted map[string]bool // agents whose specs restrict who approves

	hasAuth bool // the section auth exists, even with mistakes
}

func (b *compiler) compile() {
	b.inlineSecrets()
	b.findSecrets()
	before := len(b.Report.List)
	b.hasAuth = b.tree.Find("auth") != nil
	b.inlineTokens()
	b.Decode(b.tree, "", &b.keys)
	b.explainShapes(before)
	b.config.Name, b.config.Description = b.keys.Metadata.Name, b.keys.Metadata.Description
	b.config.ParkAfter, b.config.Grace = b.keys.ParkAfter, b.keys.Grace
	b.config.MCPWait, b.config.OpenAI = b.keys.MCP.Wait, OpenAI(b.keys.OpenAI)
	b.agents()
	b.metrics()
	b.tenants()
	b.auth()
	b.listen()
	b.limits()
	b.origins()
	b.publicURL()
	b.tls()
	b.webhooks()
	b.opensearch()
}

// shapes are hints for sections that are not mappings.
var shapes = map[string]string{
	"auth":        "write auth: {tokens: {file: tokens.yaml}}",
	"auth.oidc":   "write oidc: {issuer: https://id.example.com, audience: NAME}",
	"auth.tokens": "move them to a file of kind: Tokens, and write tokens: {file: tokens.yaml}",
	"cors":        "write cors: {origins: [https://chat.example.com]}",
	"mcp":         "write mcp: {wait: 45s}",
	"metrics":     "write metrics: {roles: [NAME]}",
	"openai":      "write openai: {progress: reasoning}",
	"tenants":     "write tenants: {known: [NAME, ...]}",
	"tls":         "write tls: {cert: cert.pem, key: key.pem}",
}

// explainShapes adds hints to diagnostics about sections that are not mappings.
func (b *compiler) explainShapes(before int) {
	for i := before; i < len(b.Report.List); i++ {
		d := &b.Report.List[i]
		if path, _, ok := strings.Cut(d.Message, " must be a mapping"); ok && d.Hint == "" {
			d.Hint = shapes[path]
		}
	}
}

// at returns the value at a path of keys, or the nearest one above it that is
// written.
func (b *compiler) at(path ...string) syntax.Position {
	v := b.tree
	for _, key := range path {
		next := v.Get(key)
		if next == nil {
			break
		}
		v = next
	}
	return v.Position
}

// agents decodes the agents and compiles their specs.
func (b *compiler) agents() {
	if v := b.keys.Agents; v != nil && v.Kind == syntax.List && len(v.Items) > 0 && v.Items[0].Kind == syntax.Text {
		b.WrongType(v, "agents", "a mapping with names as keys").Hint = "write agents: {NAME: {spec: " + v.Items[0].Text + "}}"
		return
	}
	section := b.Section("agents", b.keys.Agents)
	if n := len(section.Entries); n > maxAgents {
		b.Report.Error(diag.TooLarge, b.keys.Agents.Position, "the server has %d agents; the maximum is %d", n, maxAgents)
	}
	b.roles, b.restricted = map[string][]*syntax.Node{}, map[string]bool{}
	for _, e := range section.Entries[:min(len(section.Entries), maxAgents)] {
		if b.env.Done() {
			return
		}
		b.CheckName(e, "an agent")
		b.agent(e)
	}
}

func (b *compiler) agent(e *syntax.Entry) {
	path := "agents." + e.Key
	if e.Value.Kind == syntax.Text {
		b.WrongType(e.Value, path, "a mapping").Hint = "write " + e.Key + ": {spec: " + e.Value.Text + "}"
		return
	}
	k := language.DefaultServedAgent()
	b.Decode(e.Value, path, &k)
	set := b.Overrides(k.Set, path+".set")
	a := Agent{Name: e.Key, Set: testspec.TextsOf(set), Expose: b.expose(e.Value.Get("expose"), k.Expose), AllowSet: b.allowSet(e.Value.Get("allow_set"), k.AllowSet), OnBusy: k.OnBusy, Roles: b.agentRoles(e.Value.Get("roles"), &k.Roles), Position: testspec.PositionOf(e.Position)}
	if v := e.Value.Get("spec"); v != nil && k.Spec != "" {
		if a.Spec = b.SpecFile(v, k.Spec); a.Spec != "" {
			subject := b.env.LoadSubject(b.Unit, v.Position, a.Spec, set)
			b.restricted[a.Name] = subject != nil && subject.Program != nil && subject.Program.RestrictsApprovers()
		}
	}
	b.config.Agents = append(b.config.Agents, a)
}

// metrics checks who may read the metrics. Its roles are those of clients, as the roles of agents.
func (b *compiler) metrics() {
	b.config.Metrics = Metrics(b.keys.Metrics)
	section := b.tree.Get("metrics")
	for i, role := range b.keys.Metrics.Roles {
		v := section.Get("roles").Items[i]
		if b.name(v, role, "a role") && b.roles != nil {
			b.roles[role] = append(b.roles[role], v)
		}
	}
	if len(b.keys.Metrics.Roles) > 0 && !b.hasAuth {
		b.Report.Error(diag.Exposed, section.Get("roles").Position, "metrics.roles requires auth: without it, every client has all roles").Hint = addAuth
	}
	if v := section.Get("tenants"); b.config.Metrics.Tenants && len(b.keys.Tenants.Known) < 2 {
		b.Report.Warn(diag.NoEffect, v.Position, "metrics.tenants has no effect: the server has only one tenant").Hint = "list the tenants: tenants: {known: [NAME, OTHER]}"
	}
}

// expose checks the protocols of an agent.
func (b *compiler) expose(list *syntax.Node, protocols []string) []string {
	if list == nil {
		return protocols
	}
	known := language.Protocols()
	for i, v := range list.Items {
		if i < len(protocols) && !slices.Contains(known, protocols[i]) {
			b.Report.Error(diag.NotAllowed, v.Position, "unknown protocol %s", syntax.Quote(protocols[i])).
				Advice = diag.SuggestNear(protocols[i], known, "use "+strings.Join(known, ", ")+"; the API (/v1) needs no entry")
		}
	}
	return protocols
}

var allowSetForm = text.Regexp(language.AllowSetPattern)

// allowSet checks the keys that clients may override.
func (b *compiler) allowSet(list *syntax.Node, keys []string) []string {
	if list == nil {
		return keys
	}
	for i, v := range list.Items {
		if i < len(keys) && !allowSetForm().MatchString(keys[i]) {
			b.Report.Error(diag.NotAllowed, v.Position, "clients cannot override %s", syntax.Quote(keys[i])).
				Hint = "write limits.NAME, limits.*, llms.NAME.model or llms.*.model"
		}
	}
	return keys
}

// agentRoles returns the roles of an agent by action.
func (b *compiler) agentRoles(section *syntax.Node, k *language.AgentRolesKeys) map[string][]string {
	out := map[string][]string{}
	for i, names := range [][]string{k.View, k.Run, k.Approve, k.Admin} {
		action := language.Actions[i]
		if len(names) == 0 {
			continue
		}
		out[action] = names
		for j, v := range section.Get(action).Items {
			if b.name(v, names[j], "a role") {
				b.roles[names[j]] = append(b.roles[names[j]], v)
			}
		}
	}
	return out
}

// name checks the name of a tenant or a role.
func (b *compiler) name(v *syntax.Node, name, what string) bool {
	return checkName(b.Decoder, v, name, what)
}

// limits checks the limits against each other.
func (b *compiler) limits() {
	l := b.keys.Limits
	b.config.Limits = Limits{
		ConcurrentRuns: l.ConcurrentRuns, QueuedRuns: l.QueuedRuns, Body: int64(l.Body), Upload: int64(l.Upload), Header: int64(l.Header), Watchers: l.Watchers, Connections: l.Connections,
		PerTenant: PerTenant(l.PerTenant),
	}
	if n := l.PerTenant.ConcurrentRuns; n > l.ConcurrentRuns {
		b.Report.Error(diag.OutOfRange, b.at("limits", "per_tenant", "concurrent_runs"), "limits.per_tenant.concurrent_runs is %d, more than the %d of limits.concurrent_runs", n, l.ConcurrentRuns).
			Hint = "lower it, or raise limits.concurrent_runs"
	}
	if keep := l.PerTenant.KeepRuns; l.PerTenant.CostPerDay > 0 && keep > 0 && keep < 24*time.Hour {
		b.Report.Error(diag.OutOfRange, b.at("limits", "per_tenant", "keep_runs"), "limits.per_tenant.keep_runs is %s, but cost_per_day counts the runs of a whole day", b.tree.Get("limits").Get("per_tenant").Get("keep_runs").Text).
			Hint = "raise it to at least 24h"
	}
}

// tls resolves the files of the certificate.
func (b *compiler) tls() {
	if t := b.keys.TLS; t != nil {
		b.config.TLS = &TLS{Cert: b.resolve(t.Cert), Key: b.resolve(t.Key)}
	}
}

// resolve returns the absolute path of a file that the decoder checked.
func (b *compiler) resolve(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(b.Dir, filepath.FromSlash(name))
}
