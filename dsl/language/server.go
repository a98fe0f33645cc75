package language

import (
	"sync"
	"time"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/format"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
)

// ServerKeys is a file of kind: Server.
type ServerKeys struct {
	APIVersion string         `yaml:"apiVersion" required:"true" enum:"pex/v1" doc:"The version of the language."`
	Kind       string         `yaml:"kind" required:"true" enum:"Server" doc:"Server."`
	Metadata   ServerMeta     `yaml:"metadata" doc:"The name and description of the server."`
	Listen     string         `yaml:"listen" doc:"The address to listen on: host:port. An empty host means all interfaces, port 0 any free port. An address that other machines can reach requires auth."`
	PublicURL  string         `yaml:"public_url" doc:"The origin by which clients reach the server, such as https://agents.example.com, for addresses in A2A cards and MCP metadata. Default: the host of each request, and https with TLS or the header X-Forwarded-Proto: https."`
	Agents     *syntax.Node   `yaml:"agents" doc:"The agents to serve, by name. Default: every spec below the directory of the file, by the name in its metadata."`
	Auth       *AuthKeys      `yaml:"auth" doc:"How clients authenticate. Without it, every client has all roles, and the server accepts only connections to a loopback address."`
	Tenants    TenantKeys     `yaml:"tenants" doc:"Tenants have separate runs and memory. A tenant cannot see the runs of another."`
	Limits     ServerLimits   `yaml:"limits" doc:"The limits of the server."`
	CORS       CORSKeys       `yaml:"cors" doc:"Which web pages may call the API from a browser."`
	TLS        *TLSKeys       `yaml:"tls" doc:"Serves HTTPS. The files are read again when they change."`
	MCP        MCPKeys        `yaml:"mcp" doc:"How MCP hosts reach agents, at /mcp."`
	OpenAI     OpenAIKeys     `yaml:"openai" doc:"How OpenAI clients and chat UIs reach agents, at /openai/v1 and /v1."`
	OpenSearch OpenSearchKeys `yaml:"opensearch" doc:"The API of OpenSearch's ML Commons (/_plugins/_ml), by which clients register agents of their tenant."`
	Notify     *syntax.Node   `yaml:"notify" doc:"Webhooks, by name: receivers of events of the runs that this server executes."`
	Metrics    MetricsKeys    `yaml:"metrics" doc:"Who may read the metrics of the server (GET /metrics), and what they show."`
	ParkAfter  time.Duration  `yaml:"park_after" min:"0s" doc:"How long a run that waits for an answer stays in memory. An answer that comes later resumes the run from disk."`
	Grace      time.Duration  `yaml:"grace" min:"0s" doc:"How long calls in flight may take to finish when the server shuts down. The next start resumes the suspended runs."`
}

// DefaultServer returns a server with the defaults.
func DefaultServer() ServerKeys {
	return ServerKeys{
		Listen: "127.0.0.1:8484", Tenants: TenantKeys{Default: "shared"},
		Limits: ServerLimits{ConcurrentRuns: 64, QueuedRuns: 1000, Body: 1 << 20, Upload: 32 << 20, Header: 32 << 10, Watchers: 2000, Connections: 4096},
		MCP:    MCPKeys{Wait: 45 * time.Second}, OpenAI: OpenAIKeys{Progress: "reasoning"}, OpenSearch: OpenSearchKeys{Register: true}, ParkAfter: 30 * time.Second, Grace: 10 * time.Second,
	}
}

// ServerMeta is the section metadata of a Server.
type ServerMeta struct {
	Name        string `yaml:"name" doc:"The name of the server."`
	Description string `yaml:"description" doc:"The purpose, in one sentence."`
}

// ServedAgentKeys is an entry of agents in a Server.
type ServedAgentKeys struct {
	Spec     string         `yaml:"spec" required:"true" doc:"The spec of the agent: a file, or a directory with a spec.yaml."`
	Set      *syntax.Node   `yaml:"set" takes:"mapping, or list of strings" doc:"Overrides of the spec: a mapping of PATH: VALUE, or a list of PATH=VALUE."`
	Expose   []string       `yaml:"expose" doc:"The protocols by which clients reach the agent, besides the API (/v1): openai, opensearch, mcp, agui, a2a. An empty list allows none. Default: all."`
	AllowSet []string       `yaml:"allow_set" doc:"Which keys of the spec clients may override for a run (set): limits.NAME, limits.*, llms.NAME.model or llms.*.model. An empty list allows none."`
	Roles    AgentRolesKeys `yaml:"roles" doc:"Which roles may do what with this agent. Requires auth."`
	OnBusy   string         `yaml:"on_busy" enum:"queue|reject|cancel" doc:"What to do with a new run of a conversation (memory_id) that has a run: queue it behind an active run, reject it, or cancel the runs of the same agent. reject and cancel also apply to a run that waits for an answer."`
}

// Protocols are the protocols of a server besides its API.
func Protocols() []string { return []string{"openai", "opensearch", "mcp", "agui", "a2a"} }

// DefaultServedAgent returns an agent with the defaults.
func DefaultServedAgent() ServedAgentKeys {
	return ServedAgentKeys{OnBusy: "queue", Expose: Protocols(), AllowSet: []string{"limits.*", "llms.*.model"}}
}

// AllowSetPattern matches keys that clients may override.
const AllowSetPattern = `^(limits\.(\*|[a-z_]+)|llms\.(\*|[A-Za-z0-9_-]+)\.model)$`

// AgentRolesKeys is the section roles of an agent in a Server.
type AgentRolesKeys struct {
	View    []string `yaml:"view" min:"1" doc:"The roles that may read runs of the agent, besides those that may run or approve. Default: view."`
	Run     []string `yaml:"run" min:"1" doc:"The roles that may start, resume and cancel runs of the agent. Default: run."`
	Approve []string `yaml:"approve" min:"1" doc:"The roles that may answer questions of runs of the agent. Default: approve."`
	Admin   []string `yaml:"admin" min:"1" doc:"The roles that may delete runs of the agent, besides admin. Default: admin only."`
}

// Actions are the keys of roles, and the roles that every server has.
var Actions = []string{"view", "run", "approve", "admin"}

// AuthKeys is the section auth of a Server.
type AuthKeys struct {
	Tokens *TokenFileKeys `yaml:"tokens" doc:"Bearer tokens whose hashes are in a file. auth needs tokens, oidc or both."`
	OIDC   *OIDCKeys      `yaml:"oidc" doc:"Bearer tokens (JWT) of an OpenID Connect issuer. The server fetches the issuer's keys at the first use, so it starts while the issuer is down."`
	Roles  []string       `yaml:"roles" doc:"Further roles that clients may have, such as those that approvers of a spec read. Roles that agents name need not be listed."`
}

// SetDefaults sets no defaults.
func (*AuthKeys) SetDefaults() {}

// TokenFileKeys is the section auth.tokens of a Server.
type TokenFileKeys struct {
	File string `yaml:"file" path:"file" required:"true" missing:"write file: tokens.yaml; pexctl serve token new NAME prints an entry for it" doc:"A file of kind: Tokens."`
}

// SetDefaults sets no defaults.
func (*TokenFileKeys) SetDefaults() {}

// OIDCKeys is the section auth.oidc of a Server.
type OIDCKeys struct {
	Issuer   string `yaml:"issuer" required:"true" missing:"write issuer: https://id.example.com" doc:"The URL of the issuer, exactly as in the claim iss: https, or http on a loopback address. The server reads /.well-known/openid-configuration below it."`
	Audience string `yaml:"audience" required:"true" missing:"write audience: NAME, the value of the claim aud in tokens for this server" doc:"What the claim aud of a token must be or contain, such as the client ID of this server."`
	Subject  string `yaml:"subject" doc:"The claim with the name of the client, such as email: the author of its decisions. Names of nested claims are separated by dots."`
	Tenant   string `yaml:"tenant" doc:"The claim with the tenant of the client, one of tenants.known. Default: none; every client belongs to the default tenant."`
	Roles    string `yaml:"roles" doc:"The claim with the roles of the client, such as realm_access.roles: a list, or a string separated by spaces. Roles that this file does not know are ignored."`
}

// SetDefaults sets the names of the claims.
func (k *OIDCKeys) SetDefaults() { k.Subject, k.Roles = "sub", "groups" }

// IssuerPattern matches what the URL of an issuer starts with.
const IssuerPattern = `^https?://[^/?#@]+(/[^?#]*)?$`

// ClaimPattern matches the name of a claim. Dots separate the names of nested claims.
const ClaimPattern = `^[^\s.$]+(\.[^\s.]+)*$`

// TenantKeys is the section tenants of a Server.
type TenantKeys struct {
	Default string   `yaml:"default" doc:"The tenant of tokens without a tenant, of clients of auth.oidc if it names no claim for the tenant, and of all requests without auth. It uses the home directory itself."`
	Known   []string `yaml:"known" min:"1" doc:"All tenants, the default one included. Tenants other than the default one require auth, and use tenants/NAME in the home directory. Default: only the default tenant."`
	Header  string   `yaml:"header" doc:"The name of a request header that selects the tenant. It is used only for clients of the default tenant with the role admin. Default: no header."`
}

// ServerLimits is the section limits of a Server.
type ServerLimits struct {
	ConcurrentRuns int             `yaml:"concurrent_runs" min:"1" doc:"The maximum number of runs that execute at once."`
	QueuedRuns     int             `yaml:"queued_runs" min:"0" doc:"The maximum number of runs that wait for a free slot. Further runs are rejected with status 503."`
	Body           config.Size     `yaml:"body" min:"1KiB" max:"64MiB" doc:"The maximum size of a request body."`
	Upload         config.Size     `yaml:"upload" min:"1KiB" max:"4GiB" doc:"The maximum size of an uploaded file (artifact)."`
	Header         config.Size     `yaml:"header" min:"1KiB" max:"1MiB" doc:"The maximum size of the headers of a request."`
	Watchers       int             `yaml:"watchers" min:"1" doc:"The maximum number of requests that watch a run or wait for its result. Further ones are rejected with status 503."`
	Connections    int             `yaml:"connections" min:"1" doc:"The maximum number of open connections. The server closes further ones."`
	PerTenant      PerTenantLimits `yaml:"per_tenant" doc:"The limits of each tenant."`
}

// PerTenantLimits is the section limits.per_tenant of a Server.
type PerTenantLimits struct {
	ConcurrentRuns int           `yaml:"concurrent_runs" min:"1" doc:"The maximum number of runs of one tenant that execute at once. Default: no limit of its own."`
	RunsPerMinute  int           `yaml:"runs_per_minute" min:"1" doc:"The maximum number of runs that one tenant may start per minute. Default: no limit."`
	Watchers       int           `yaml:"watchers" min:"1" doc:"The maximum number of requests of one tenant that watch a run or wait for its result. Further ones are rejected with status 429. Default: no limit of its own."`
	CostPerDay     float64       `yaml:"cost_per_day" over:"0" doc:"The maximum cost in US dollars of the runs of one tenant per UTC day. A run reserves the most that it may cost, so its agent needs limits.max_cost or a known worst case. Default: no limit."`
	KeepRuns       time.Duration `yaml:"keep_runs" min:"1h" doc:"How long to keep the runs of one tenant after their end. The server deletes older ones at its start and every hour. Default: forever."`
	Artifacts      config.Size   `yaml:"artifacts" min:"1KiB" doc:"The maximum total size of the files that one tenant has uploaded. Default: no limit."`
}

// OpenSearchKeys is the section opensearch of a Server.
type OpenSearchKeys struct {
	Register  bool     `yaml:"register" doc:"Whether clients with the role admin may register connectors, models and agents."`
	Endpoints []string `yaml:"endpoints" min:"1" doc:"The URLs that registered models and tools may call, and everything below them, such as http://127.0.0.1:11434/v1. Default: only the usual addresses of OpenAI, Anthropic, Google and Bedrock."`
	Env       []string `yaml:"env" min:"1" doc:"The environment variables that registered agents may use, such as OPENSEARCH_PASSWORD: keys for endpoints, and addresses and passwords for tools. Default: none besides the usual keys of models, which are sent only to their usual addresses."`
	Info      bool     `yaml:"info" doc:"Respond to GET / like an OpenSearch cluster. Some clients ask for it first."`
}

// MetricsKeys is the section metrics of a Server.
type MetricsKeys struct {
	Roles   []string `yaml:"roles" min:"1" doc:"The roles of the default tenant that may read the metrics, besides admin. A role that is only listed here permits nothing else. Requires auth. Default: admin only."`
	Tenants bool     `yaml:"tenants" doc:"Whether metrics of runs have the label tenant."`
}

// EndpointPattern matches the URL of an endpoint.
const EndpointPattern = `^https?://[^/?#@\s]+(/[^?#\s]*)?$`

// VariableName matches the name of an environment variable.
const VariableName = `^[A-Za-z_][A-Za-z0-9_]*$`

// CORSKeys is the section cors of a Server.
type CORSKeys struct {
	Origins []string `yaml:"origins" min:"1" doc:"The origins of these web pages: scheme://host or scheme://host:port. Default: none."`
}

// IdentityName matches the name of a tenant or a role. A tenant is also the name of a
// directory, and some file systems ignore case.
var IdentityName = text.Regexp(`^[a-z0-9][a-z0-9_-]*$`)

// ClientName matches the name of a token: a word or an email address.
var ClientName = text.Regexp(`^[A-Za-z0-9][A-Za-z0-9_.+@-]*$`)

// MCPKeys is the section mcp of a Server.
type MCPKeys struct {
	Wait time.Duration `yaml:"wait" min:"1s" doc:"How long a call waits for its run. Then it returns the id of the run, which continues. Many hosts give up on a call after 60 seconds."`
}

// OpenAIKeys is the section openai of a Server.
type OpenAIKeys struct {
	Progress         string `yaml:"progress" enum:"reasoning|text|none" doc:"How a chat completion shows the progress of its run: as reasoning_content, which chat UIs fold away, as text before the answer, or not at all."`
	TrustUserHeaders bool   `yaml:"trust_user_headers" doc:"Whether clients with the role admin, such as a chat UI, act for the user that X-OpenWebUI-User-Email or X-LibreChat-User-Id names. That user is then the author of runs and decisions. Without auth the headers are ignored."`
}

// OriginPattern matches an origin in the form that browsers send.
const OriginPattern = `^https?://([a-z0-9_.-]+|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$`

// TLSKeys is the section tls of a Server.
type TLSKeys struct {
	Cert string `yaml:"cert" path:"file" required:"true" missing:"tls needs both files: {cert: cert.pem, key: key.pem}" doc:"A PEM file with the certificate, followed by those of its issuers."`
	Key  string `yaml:"key" path:"file" required:"true" missing:"tls needs both files: {cert: cert.pem, key: key.pem}" doc:"A PEM file with the private key."`
}

// SetDefaults sets no defaults.
func (*TLSKeys) SetDefaults() {}

// WebhookKeys is an entry of notify in a Server.
type WebhookKeys struct {
	Events     []string          `yaml:"events" required:"true" min:"1" missing:"write events: [interrupt.raised, run.completed]" doc:"The types of the events to send, such as interrupt.raised (a question is open) and run.completed (the run has ended, whatever its status). Events without a number cannot be sent."`
	URL        string            `yaml:"url" doc:"The address of the receiver: https, or http on a loopback address. Write url or url_env."`
	URLEnv     string            `yaml:"url_env" doc:"The environment variable with the address of the receiver, if the address contains a secret."`
	SecretEnv  string            `yaml:"secret_env" required:"true" missing:"write secret_env: WEBHOOK_SECRET, and set this variable to whsec_ followed by the base64 of 24 to 64 random bytes" doc:"The environment variable with the secret that signs the messages: whsec_ followed by the base64 of 24 to 64 random bytes. To change it, set the new secret and the old one, separated by a space, until the receiver has the new one."`
	HeadersEnv map[string]string `yaml:"headers_env" doc:"Additional headers: the name of each, and the environment variable with its value, such as {Authorization: WEBHOOK_AUTH}."`
	Agents     []string          `yaml:"agents" min:"1" doc:"Send only events of runs of these agents. Default: of all agents."`
	Tenants    []string          `yaml:"tenants" min:"1" doc:"Send only events of runs of these tenants. Default: of all tenants."`
	Allow      []string          `yaml:"allow" min:"1" doc:"Networks in which the receiver may be although they are not public, such as [10.0.0.0/8]. Default: the server connects only to public addresses, and to an address that the URL contains itself, such as http://127.0.0.1:9000."`
}

// SetDefaults sets no defaults.
func (*WebhookKeys) SetDefaults() {}

// WebhookURLPattern matches what the URL of a webhook starts with.
const WebhookURLPattern = `^https?://[^/?#@\s]+([/?][^#\s]*)?$`

// WebhookEvents returns the types of events that a webhook can send: transient ones are not
// in the journal, so they could be lost.
func WebhookEvents() (out []string) {
	for _, t := range engine.EventTypes() {
		if !t.Transient() {
			out = append(out, string(t))
		}
	}
	return out
}

// TokensKeys is a file of kind: Tokens.
type TokensKeys struct {
	APIVersion string      `yaml:"apiVersion" required:"true" enum:"pex/v1" doc:"The version of the language."`
	Kind       string      `yaml:"kind" required:"true" enum:"Tokens" doc:"Tokens."`
	Tokens     []TokenKeys `yaml:"tokens" required:"true" min:"1" doc:"The tokens. pexctl serve token new NAME makes a token and prints its entry."`
}

// HashDigits is the number of hex digits of a SHA-256 hash.
const HashDigits = 64

// TokenKeys is an entry of tokens.
type TokenKeys struct {
	Name   string   `yaml:"name" required:"true" doc:"The name of the client: the author of its decisions, and its name in the access log."`
	SHA256 string   `yaml:"sha256" required:"true" missing:"to make a token, run pexctl serve token new NAME" doc:"The SHA-256 hash of the token, 64 hex digits. The token itself is not stored."`
	Tenant string   `yaml:"tenant" doc:"The tenant of the client. Default: tenants.default of the server."`
	Roles  []string `yaml:"roles" required:"true" min:"1" doc:"What the client may do: view, run, approve, admin, or roles that the agents of the server name. run and approve include view; admin includes all others."`
}

// ServerSections are the sections of a Server to search for misplaced keys.
var ServerSections = sync.OnceValue(func() []Section {
	return []Section{
		{"limits", config.KeysOf(ServerLimits{})},
		{"limits.per_tenant", config.KeysOf(PerTenantLimits{})},
		{"an entry of agents", config.KeysOf(ServedAgentKeys{})},
		{"an entry of notify", config.KeysOf(WebhookKeys{})},
		{"auth", config.KeysOf(AuthKeys{})},
		{"auth.oidc", config.KeysOf(OIDCKeys{})},
		{"cors", config.KeysOf(CORSKeys{})},
		{"mcp", config.KeysOf(MCPKeys{})},
		{"metrics", config.KeysOf(MetricsKeys{})},
		{"openai", config.KeysOf(OpenAIKeys{})},
		{"tls", config.KeysOf(TLSKeys{})},
		{"metadata", config.KeysOf(ServerMeta{})},
		{"", config.KeysOf(ServerKeys{})},
	}
})

func serverOrder() format.Order {
	order := ofStruct(ServerKeys{})
	agent, auth, limits := ofStruct(ServedAgentKeys{}), ofStruct(AuthKeys{}), ofStruct(ServerLimits{})
	agent.Below = map[string]format.Order{"roles": ofStruct(AgentRolesKeys{})}
	auth.Below = map[string]format.Order{"tokens": ofStruct(TokenFileKeys{}), "oidc": ofStruct(OIDCKeys{})}
	limits.Below = map[string]format.Order{"per_tenant": ofStruct(PerTenantLimits{})}
	order.Below = map[string]format.Order{
		"metadata": ofStruct(ServerMeta{}), "agents": {Below: map[string]format.Order{"*": agent}}, "auth": auth,
		"tenants": ofStruct(TenantKeys{}), "limits": limits, "cors": ofStruct(CORSKeys{}), "tls": ofStruct(TLSKeys{}), "mcp": ofStruct(MCPKeys{}), "openai": ofStruct(OpenAIKeys{}), "metrics": ofStruct(MetricsKeys{}),
		"notify": {Below: map[string]format.Order{"*": ofStruct(WebhookKeys{})}},
	}
	return order
}

func tokensOrder() format.Order {
	order := ofStruct(TokensKeys{})
	order.Below = map[string]format.Order{"tokens": {Below: map[string]format.Order{"*": ofStruct(TokenKeys{})}}}
	return order
}
