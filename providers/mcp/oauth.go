package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"golang.org/x/oauth2"
)

// Auth is how a server is told on whose behalf it is called.
type Auth struct {
	Type            string   `yaml:"type" required:"true" enum:"oauth" doc:"oauth: a person signs in, in a browser, when the server asks for it; the tokens are kept for later runs."`
	ClientID        string   `yaml:"client_id" doc:"The client that was registered for pexctl with the server's provider. Default: pexctl registers itself, where the provider allows it."`
	ClientSecretEnv string   `yaml:"client_secret_env" doc:"The environment variable that holds the client's secret, if it has one."`
	ClientMetadata  string   `yaml:"client_metadata_url" doc:"Address of a client's metadata document, for providers that know clients by it."`
	Issuer          string   `yaml:"issuer" doc:"The provider that client_id is registered with, such as https://login.example.org. Without it a client's secret is sent to no other host than the server's."`
	Scopes          []string `yaml:"scopes" doc:"What is asked for besides what the server says it needs."`
	RedirectPort    int      `yaml:"redirect_port" min:"0" max:"65535" doc:"Port of this machine at which the browser comes back, where the provider wants to know it before. Default: any free one."`
}

// checkAuth looks at what is written of signing in.
func (c *Config) checkAuth() (out component.Faults) {
	a := c.Auth
	if a == nil || !c.Command.IsZero() {
		return nil
	}
	for name := range c.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			out = append(out, fault("/auth", "the header Authorization says already who calls", "remove one of them"))
		}
	}
	if a.ClientSecretEnv != "" && a.ClientID == "" {
		out = append(out, fault("/auth/client_secret_env", "a client's secret says nothing without its id", "write client_id"))
	}
	if a.Issuer != "" && a.ClientID == "" {
		out = append(out, fault("/auth/issuer", "issuer says with whom client_id is registered, and there is none", "write client_id, or remove issuer"))
	}
	for _, place := range [][2]string{{"issuer", a.Issuer}, {"client_metadata_url", a.ClientMetadata}} {
		if u, err := url.Parse(place[1]); place[1] != "" && (err != nil || u.Host == "" || u.Scheme != "https" && (place[0] != "issuer" || u.Scheme != "http")) {
			out = append(out, fault("/auth/"+place[0], place[0]+" is no https address", "it looks like https://login.example.org/"))
		}
	}
	return out
}

// oauth is who signs in at an address, or nil. It outlives connections.
func (t *server) oauth(origin *url.URL) auth.OAuthHandler {
	if t.config.Auth == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.signs == nil {
		t.signs = map[string]*signIn{}
	}
	in := t.signs[origin.String()]
	if in == nil {
		in = newSignIn(*t.config.Auth, origin, t.config.AllowPrivate, t.settings)
		t.signs[origin.String()] = in
	}
	return in
}

// startTime is how long a start may take: with somebody there who may have to
// sign in, as much longer as that may take.
func (t *server) startTime() time.Duration {
	if t.config.Auth == nil || t.settings.Browse == nil {
		return t.config.StartTimeout
	}
	return t.config.StartTimeout + signInTime
}

// signInTime is how long a person may take in the browser.
const signInTime = 3 * time.Minute

// errNobodySignsIn says that a server wants a person, and none is there.
var errNobodySignsIn = errors.New("the server wants somebody to sign in, and nobody is there: pexctl tools ls SPEC, at a terminal, signs in and keeps the token for later runs")

// signIn gets tokens for one server: kept ones, else such as a person is asked
// for. It is made of the author's settings alone and opens nothing.
type signIn struct {
	auth   Auth
	server string // the author's address
	secret string // the client's, or ""
	client *http.Client
	browse func(ctx context.Context, address string) error
	kept   kept

	turn sync.Mutex // one person signs in once at a time

	mu      sync.Mutex
	inner   *auth.AuthorizationCodeHandler // made when it is first needed
	port    int
	granted []string // scopes asked for so far
}

var _ auth.OAuthHandler = (*signIn)(nil)

// newSignIn makes the handler of a server's address. private says that what is
// at the server's host may lie in a private network.
func newSignIn(a Auth, server *url.URL, private bool, s tool.Settings) *signIn {
	in := &signIn{auth: a, server: server.String(), browse: s.Browse, port: a.RedirectPort}
	if a.ClientSecretEnv != "" && s.Env != nil {
		in.secret = s.Env(a.ClientSecretEnv)
	}
	in.client = discoverer(server.Hostname(), private, in.secret != "" && a.Issuer == "", s.UserAgent)
	in.kept = kept{vault: s.Vault, name: keptName(in.server, a.ClientID), server: in.server, client: in.client}
	return in
}

// TokenSource implements auth.OAuthHandler.
func (in *signIn) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	h, err := in.handler()
	if err != nil {
		return nil, err
	}
	return h.TokenSource(ctx)
}

// Authorize implements auth.OAuthHandler. Of calls that are refused side by
// side the first lets a person sign in, and the others use what that gave.
func (in *signIn) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	in.turn.Lock()
	defer in.turn.Unlock()
	h, err := in.handler()
	if err != nil {
		resp.Body.Close()
		return err
	}
	if resp.StatusCode == http.StatusUnauthorized && in.renewed(ctx, h, req) {
		return resp.Body.Close()
	}
	if err := h.Authorize(ctx, req, resp); err != nil {
		return fmt.Errorf("sign in at %s: %w", in.server, err)
	}
	return nil
}

// renewed says that there is another token by now than the one refused.
func (in *signIn) renewed(ctx context.Context, h *auth.AuthorizationCodeHandler, req *http.Request) bool {
	source, err := h.TokenSource(ctx)
	if err != nil || source == nil {
		return false
	}
	token, err := source.Token()
	return err == nil && req.Header.Get("Authorization") != token.Type()+" "+token.AccessToken
}

// handler is the SDK's handler, which knows the protocol of signing in.
func (in *signIn) handler() (*auth.AuthorizationCodeHandler, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.inner != nil {
		return in.inner, nil
	}
	if err := in.choosePort(); err != nil {
		return nil, err
	}
	back := in.redirect()
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back, AuthorizationCodeFetcher: in.fetch, Client: in.client, ScopeFilter: in.scopes,
		RequestRefreshToken: in.kept.vault != nil, AcceptUnadvertisedIss: true,
		NewTokenSource: in.kept.source, InitialTokenSource: in.kept.load(),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "pexctl", RedirectURIs: []string{back}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
	}
	if in.auth.ClientMetadata != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: in.auth.ClientMetadata}
	}
	if in.auth.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: in.auth.ClientID, Issuer: in.auth.Issuer}
		if in.secret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: in.secret}
		}
	}
	var err error
	in.inner, err = auth.NewAuthorizationCodeHandler(c)
	return in.inner, err
}

// choosePort decides where the browser comes back: providers that pexctl
// registers with are told before anybody signs in.
func (in *signIn) choosePort() error {
	if in.port != 0 {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a port for the browser to come back to: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	in.port, err = strconv.Atoi(port)
	return errors.Join(err, l.Close())
}

// redirect is the address at which the browser comes back.
func (in *signIn) redirect() string {
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(in.port)) + callbackPath
}

// scopes are what to ask for: what the server says it needs, what the author
// adds, and what was granted before, which a new token would lose.
func (in *signIn) scopes(discovered []string) []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, s := range slices.Concat(discovered, in.auth.Scopes) {
		if !slices.Contains(in.granted, s) {
			in.granted = append(in.granted, s)
		}
	}
	return slices.Clone(in.granted)
}

// fetch lets a person sign in at an address that the server's provider made.
func (in *signIn) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	if in.browse == nil {
		return nil, errNobodySignsIn
	}
	to, err := url.Parse(args.URL)
	if err != nil || !in.fit(to) {
		return nil, errors.New("the server sends people to an address to sign in that is neither https nor at its own host")
	}
	ctx, cancel := context.WithTimeout(ctx, signInTime)
	defer cancel()
	return comeBack(ctx, in.port, to.Query().Get("state"), func() error { return in.browse(ctx, args.URL) })
}

// fit says whether a person may be sent to an address: by https, or to the
// author's own host.
func (in *signIn) fit(to *url.URL) bool {
	own, err := url.Parse(in.server)
	return err == nil && to.Host != "" && to.User == nil &&
		(to.Scheme == "https" || to.Scheme == "http" && to.Hostname() == own.Hostname())
}
