package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/pexctl/pex/engine/tool"
	"golang.org/x/oauth2"
)

// tokenStore stores the tokens of one server in the vault, with what is needed to refresh
// them. They are valid only for this server's URL.
type tokenStore struct {
	vault  tool.TokenStore // nil = tokens are not stored
	name   string
	server string
	client *http.Client
}

// tokenName returns the vault name for a server's tokens.
func tokenName(server, client string) string {
	sum := sha256.Sum256([]byte(server + "\n" + client))
	return "mcp-" + hex.EncodeToString(sum[:16]) + ".json"
}

// tokenRecord is the stored form.
type tokenRecord struct {
	Server       string        `json:"server"`
	ClientID     string        `json:"client_id"`
	ClientSecret string        `json:"client_secret,omitempty"`
	TokenURL     string        `json:"token_url"`
	AuthStyle    int           `json:"auth_style"`
	Scopes       []string      `json:"scopes,omitempty"`
	Token        *oauth2.Token `json:"token"`
}

// load returns the stored token; nil = a sign-in is needed.
func (k tokenStore) load() oauth2.TokenSource {
	if k.vault == nil {
		return nil
	}
	b, err := k.vault.Load(k.name)
	var r tokenRecord
	if err != nil || json.Unmarshal(b, &r) != nil || r.Server != k.server || r.Token == nil {
		return nil // treated as not signed in
	}
	c := &oauth2.Config{
		ClientID: r.ClientID, ClientSecret: r.ClientSecret, Scopes: r.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: r.TokenURL, AuthStyle: oauth2.AuthStyle(r.AuthStyle)},
	}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, k.client)
	return &savingSource{store: k, config: c, from: c.TokenSource(ctx, r.Token), last: r.Token.AccessToken}
}

// source returns a token source for a new token, which it stores.
func (k tokenStore) source(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	s := &savingSource{store: k, config: c, from: c.TokenSource(ctx, t), last: t.AccessToken}
	return s, s.save(t)
}

// savingSource is a token source that stores each new token.
type savingSource struct {
	store  tokenStore
	config *oauth2.Config
	from   oauth2.TokenSource

	mu   sync.Mutex
	last string
}

// Token implements oauth2.TokenSource.
func (s *savingSource) Token() (*oauth2.Token, error) {
	t, err := s.from.Token()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.AccessToken == s.last {
		return t, nil
	}
	s.last = t.AccessToken
	return t, s.save(t)
}

func (s *savingSource) save(t *oauth2.Token) error {
	if s.store.vault == nil {
		return nil
	}
	b, err := json.Marshal(tokenRecord{
		Server: s.store.server, ClientID: s.config.ClientID, ClientSecret: s.config.ClientSecret, Scopes: s.config.Scopes,
		TokenURL: s.config.Endpoint.TokenURL, AuthStyle: int(s.config.Endpoint.AuthStyle), Token: t,
	})
	if err != nil {
		return err
	}
	return s.store.vault.Save(s.store.name, b)
}
