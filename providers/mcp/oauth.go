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

// Auth configures how a server identifies its user.
type Auth struct {
	Type            string   `yaml:"type" required:"true" enum:"oauth" doc:"oauth: the user signs in with a browser when the server requires it. Tokens are stored for later runs."`
	ClientID        string   `yaml:"client_id" doc:"OAuth client ID registered for pexctl. Default: pexctl registers itself if the provider allows it."`
	ClientSecretEnv string   `yaml:"client_secret_env" doc:"Environment variable with the client secret, if there is one."`
	ClientMetadata  string   `yaml:"client_metadata_url" doc:"URL of a client metadata document, for providers that identify clients by it."`
	Issuer          string   `yaml:"issuer" doc:"Issuer that client_id is registered with, such as https://login.example.org. Without it, the client secret is only sent to the server's host."`
	Scopes          []string `yaml:"scopes" doc:"Scopes to request in addition to those that the server requires."`
	RedirectPort    int      `yaml:"redirect_port" min:"0" max:"65535" doc:"Local port of the redirect URL, if the provider requires a fixed one. Default: any free port."`
}

// checkAuth checks the auth settings.
func (c *Config) checkAuth() (out component.Faults) {
	a := c.Auth
	if a == nil || !c.Command.IsZero() {
		return nil
	}
	for name := range c.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			out = append(out, fault("/auth", "auth and the header Authorization are mutually exclusive", "remove one of them"))
		}
	}
	if a.ClientSecretEnv != "" && a.ClientID == "" {
		out = append(out, fault("/auth/client_secret_env", "client_secret_env requires client_id", "set client_id"))
	}
	if a.Issuer != "" && a.ClientID == "" {
		out = append(out, fault("/auth/issuer", "issuer requires client_id", "set client_id, or remove issuer"))
	}
	for _, key := range [][2]string{{"issuer", a.Issuer}, {"client_metadata_url", a.ClientMetadata}} {
		if u, err := url.Parse(key[1]); key[1] != "" && (err != nil || u.Host == "" || u.Scheme != "https" && (key[0] != "issuer" || u.Scheme != "http")) {
			out = append(out, fault("/auth/"+key[0], key[0]+" is not an https URL", "write a URL such as https://login.example.org/"))
		}
	}
	return out
}

// oauth returns the sign-in handler for an origin, or nil. It outlives connections.
func (t *server) oauth(origin *url.URL) auth.OAuthHandler {
	if t.config.Auth == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.signIns == nil {
		t.signIns = map[string]*signIn{}
	}
	in := t.signIns[origin.String()]
	if in == nil {
		in = newSignIn(*t.config.Auth, origin, t.config.AllowPrivate, t.settings)
		t.signIns[origin.String()] = in
	}
	return in
}

// startTime returns the maximum time of a start, including the sign-in if a human can be asked.
func (t *server) startTime() time.Duration {
	if t.config.Auth == nil || t.settings.Browse == nil {
		return t.config.StartTimeout
	}
	return t.config.StartTimeout + signInTime
}

// signInTime is how long a sign-in in the browser may take.
const signInTime = 3 * time.Minute

// errSignInRequired is returned if a sign-in is required and no human is available.
var errSignInRequired = errors.New("the server requires a sign-in, but there is no terminal: run pexctl tools ls SPEC in a terminal to sign in; the token is stored for later runs")

// signIn obtains tokens for one server: stored ones, or new ones by asking a human to
// sign in. Creating it opens nothing.
type signIn struct {
	auth   Auth
	server string // URL as configured
	secret string // client secret, or ""
	client *http.Client
	browse func(ctx context.Context, address string) error
	tokens tokenStore

	signInMu sync.Mutex // held during a sign-in

	mu              sync.Mutex
	inner           *auth.AuthorizationCodeHandler // created on first use
	port            int
	requestedScopes []string // scopes requested so far
}

var _ auth.OAuthHandler = (*signIn)(nil)

// newSignIn returns the handler for a server's URL. private allows the server's host to
// be in a private network.
func newSignIn(a Auth, server *url.URL, private bool, s tool.Settings) *signIn {
	in := &signIn{auth: a, server: server.String(), browse: s.Browse, port: a.RedirectPort}
	if a.ClientSecretEnv != "" && s.Env != nil {
		in.secret = s.Env(a.ClientSecretEnv)
	}
	in.client = newDiscoveryClient(server.Hostname(), private, in.secret != "" && a.Issuer == "", s.UserAgent)
	in.tokens = tokenStore{vault: s.Tokens, name: tokenName(in.server, a.ClientID), server: in.server, client: in.client}
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

// Authorize implements auth.OAuthHandler. If several calls are refused at the same time, the first starts a sign-in and
// the others use its token.
func (in *signIn) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	in.signInMu.Lock()
	defer in.signInMu.Unlock()
	h, err := in.handler()
	if err != nil {
		resp.Body.Close()
		return err
	}
	if resp.StatusCode == http.StatusUnauthorized && in.hasNewToken(ctx, h, req) {
		return resp.Body.Close()
	}
	if err := h.Authorize(ctx, req, resp); err != nil {
		return fmt.Errorf("sign in at %s: %w", in.server, err)
	}
	return nil
}

// hasNewToken reports whether there is a newer token than the refused one.
func (in *signIn) hasNewToken(ctx context.Context, h *auth.AuthorizationCodeHandler, req *http.Request) bool {
	source, err := h.TokenSource(ctx)
	if err != nil || source == nil {
		return false
	}
	token, err := source.Token()
	return err == nil && req.Header.Get("Authorization") != token.Type()+" "+token.AccessToken
}

// handler returns the SDK's handler, which implements the protocol.
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
		RequestRefreshToken: in.tokens.vault != nil, AcceptUnadvertisedIss: true,
		NewTokenSource: in.tokens.source, InitialTokenSource: in.tokens.load(),
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

// choosePort picks the callback port in advance, because registration needs it.
func (in *signIn) choosePort() error {
	if in.port != 0 {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port for the sign-in callback: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	in.port, err = strconv.Atoi(port)
	return errors.Join(err, l.Close())
}

// redirect returns the callback URL.
func (in *signIn) redirect() string {
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(in.port)) + callbackPath
}

// scopes returns the scopes to request: the server's, the author's, and those granted
// before, which a new token would otherwise lose.
func (in *signIn) scopes(discovered []string) []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, s := range slices.Concat(discovered, in.auth.Scopes) {
		if !slices.Contains(in.requestedScopes, s) {
			in.requestedScopes = append(in.requestedScopes, s)
		}
	}
	return slices.Clone(in.requestedScopes)
}

// fetch lets a human sign in at the provider's URL.
func (in *signIn) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	if in.browse == nil {
		return nil, errSignInRequired
	}
	to, err := url.Parse(args.URL)
	if err != nil || !in.allowedURL(to) {
		return nil, errors.New("the server's sign-in URL is neither https nor at its own host")
	}
	ctx, cancel := context.WithTimeout(ctx, signInTime)
	defer cancel()
	return awaitCallback(ctx, in.port, to.Query().Get("state"), func() error { return in.browse(ctx, args.URL) })
}

// allowedURL reports whether a human may be sent to a URL: over https, or to the
// configured host.
func (in *signIn) allowedURL(to *url.URL) bool {
	own, err := url.Parse(in.server)
	return err == nil && to.Host != "" && to.User == nil &&
		(to.Scheme == "https" || to.Scheme == "http" && to.Hostname() == own.Hostname())
}
