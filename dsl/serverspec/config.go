package serverspec

import (
	"net/netip"
	"time"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/testspec"
)

// Config is the configuration of a server, with all defaults.
type Config struct {
	File, Dir, Root string   // absolute
	Files           []string // absolute paths of the files read, for watching, without those of specs
	Name            string   // "" if the file has none
	Description     string
	Listen          string // host:port
	PublicURL       string // origin; "" for that of requests
	ListenAt        testspec.Position
	Agents          []Agent // in the order of the file; none means every spec below Dir
	Auth            *Auth   // nil without authentication
	Tenants         Tenants
	Limits          Limits
	Origins         []string      // of CORS
	TLS             *TLS          // nil for plain HTTP
	MCPWait         time.Duration // how long a call of MCP waits for its run
	OpenAI          OpenAI
	Webhooks        []Webhook // in the order of the file
	OpenSearch      OpenSearch
	Metrics         Metrics
	ParkAfter       time.Duration
	Grace           time.Duration
	Position        testspec.Position
}

// Agent is an agent that the server offers.
type Agent struct {
	Name     string
	Spec     string // absolute path, with its agent
	Set      []string
	Roles    map[string][]string // by action (view, run, approve, admin); an action without an entry requires the role of its name
	Expose   []string            // protocols; see language.Protocols
	AllowSet []string            // keys that clients may override; see language.AllowSetPattern
	OnBusy   string              // queue, reject or cancel
	Position testspec.Position
}

// OpenAI is how OpenAI clients reach agents.
type OpenAI struct {
	Progress         string // reasoning, text or none
	TrustUserHeaders bool
}

// Auth is how clients authenticate.
type Auth struct {
	File   string // absolute path of the tokens; "" without tokens
	Tokens []Token
	OIDC   *OIDC // nil without an issuer
}

// OIDC is an issuer of tokens, with the claims that say who a client is.
type OIDC struct {
	Issuer   string
	Audience string
	Subject  string   // claim
	Tenant   string   // claim; "" for the default tenant
	Roles    string   // claim
	Known    []string // the roles that count, sorted
}

// Token is a bearer token of a client.
type Token struct {
	Name     string
	SHA256   string // lower-case hex
	Tenant   string // in Auth never ""; from CompileTokens "" for the default tenant
	Roles    []string
	Position testspec.Position
}

// Tenants are the tenants of a server.
type Tenants struct {
	Default string
	Known   []string // with Default
	Header  string   // selects the tenant of a request; "" for no header
}

// Limits are the limits of a server. Sizes are in bytes.
type Limits struct {
	ConcurrentRuns int
	QueuedRuns     int
	Body           int64
	Upload         int64
	Header         int64
	Watchers       int
	Connections    int
	PerTenant      PerTenant
}

// PerTenant limits each tenant; 0 means no limit.
type PerTenant struct {
	ConcurrentRuns int
	RunsPerMinute  int
	Watchers       int
	CostPerDay     float64       // USD
	KeepRuns       time.Duration // after their end
	Artifacts      config.Size
}

// TLS names the files of the certificate and its key, as absolute paths.
type TLS struct{ Cert, Key string }

// OpenSearch configures the API of OpenSearch's ML Commons.
type OpenSearch struct {
	Register  bool     // clients may register agents
	Endpoints []string // URLs that registered agents may call
	Env       []string // environment variables that they may use
	Info      bool     // respond to GET /
}

// Metrics configures the metrics of the server.
type Metrics struct {
	Roles   []string // of the default tenant that may read them, besides admin
	Tenants bool     // the tenant is a label
}

// Webhook is a receiver of events. Environment variables are not read.
type Webhook struct {
	Name       string
	Events     []string
	URL        string // "" if URLEnv is set
	URLEnv     string
	SecretEnv  string
	HeadersEnv map[string]string
	Agents     []string // nil for all
	Tenants    []string // nil for all
	Allow      []netip.Prefix
	Position   testspec.Position
}
