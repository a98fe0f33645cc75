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

// kept are the tokens of one server in the vault, and what it takes to renew
// them. They are of use for this server's address only.
type kept struct {
	vault  tool.Vault // nil = nothing is kept
	name   string
	server string
	client *http.Client
}

// keptName is what tokens are kept under.
func keptName(server, client string) string {
	sum := sha256.Sum256([]byte(server + "\n" + client))
	return "mcp-" + hex.EncodeToString(sum[:16]) + ".json"
}

// record is what the vault holds.
type record struct {
	Server       string        `json:"server"`
	ClientID     string        `json:"client_id"`
	ClientSecret string        `json:"client_secret,omitempty"`
	TokenURL     string        `json:"token_url"`
	AuthStyle    int           `json:"auth_style"`
	Scopes       []string      `json:"scopes,omitempty"`
	Token        *oauth2.Token `json:"token"`
}

// load gives what earlier runs were given; nil = somebody has to sign in.
func (k kept) load() oauth2.TokenSource {
	if k.vault == nil {
		return nil
	}
	b, err := k.vault.Load(k.name)
	var r record
	if err != nil || json.Unmarshal(b, &r) != nil || r.Server != k.server || r.Token == nil {
		return nil // as if nobody had ever signed in
	}
	c := &oauth2.Config{
		ClientID: r.ClientID, ClientSecret: r.ClientSecret, Scopes: r.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: r.TokenURL, AuthStyle: oauth2.AuthStyle(r.AuthStyle)},
	}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, k.client)
	return &keeping{kept: k, config: c, from: c.TokenSource(ctx, r.Token), last: r.Token.AccessToken}
}

// source is the source of a token that was just given, which is kept.
func (k kept) source(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	s := &keeping{kept: k, config: c, from: c.TokenSource(ctx, t), last: t.AccessToken}
	return s, s.save(t)
}

// keeping is a source of tokens that keeps each new one.
type keeping struct {
	kept   kept
	config *oauth2.Config
	from   oauth2.TokenSource

	mu   sync.Mutex
	last string
}

// Token implements oauth2.TokenSource.
func (s *keeping) Token() (*oauth2.Token, error) {
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

func (s *keeping) save(t *oauth2.Token) error {
	if s.kept.vault == nil {
		return nil
	}
	b, err := json.Marshal(record{
		Server: s.kept.server, ClientID: s.config.ClientID, ClientSecret: s.config.ClientSecret, Scopes: s.config.Scopes,
		TokenURL: s.config.Endpoint.TokenURL, AuthStyle: int(s.config.Endpoint.AuthStyle), Token: t,
	})
	if err != nil {
		return err
	}
	return s.kept.vault.Save(s.kept.name, b)
}
