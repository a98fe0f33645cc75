package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/pexctl/pex/server/auth"
)

const (
	maxToken  = 64 << 10 // bytes
	clockSkew = time.Minute
)

// algorithms are the accepted signatures. All are asymmetric: with a symmetric one, a public
// key would be a secret that everyone knows.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// Options configure a Verifier.
type Options struct {
	Issuer    string            // URL, exactly as in the claim iss
	Audience  string            // what the claim aud must be or contain
	Transport http.RoundTripper // to the issuer; nil = the pool of the process
	Now       func() time.Time  // nil = time.Now
}

// Verifier verifies the signature, issuer, audience and times of tokens.
type Verifier struct {
	o      Options
	client *http.Client

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier // nil before the first discovery
}

var _ auth.Verifier = (*Verifier)(nil)

// New returns a Verifier. It does not connect to the issuer.
func New(o Options) *Verifier {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Verifier{o: o, client: newClient(o)}
}

// Verify implements auth.Verifier.
func (v *Verifier) Verify(ctx context.Context, token string) (map[string]any, error) {
	if len(token) > maxToken {
		return nil, fmt.Errorf("the token has %d bytes; the maximum is %d", len(token), maxToken)
	}
	if strings.Count(token, ".") != 2 {
		return nil, errors.New("the token is not a JWT")
	}
	verifier, err := v.discover(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	var failed error // to fetch the keys
	t, err := verifier.Verify(context.WithValue(ctx, fetchKey{}, &failed), token)
	if failed != nil {
		return nil, unavailable(failed)
	}
	if err != nil {
		return nil, err
	}
	var claims map[string]any
	if err := t.Claims(&claims); err != nil {
		return nil, err
	}
	return claims, v.checkTimes(claims)
}

// unavailable returns the error for an issuer whose metadata or keys cannot be fetched.
func unavailable(err error) error {
	return &auth.UnavailableError{RetryAfter: retryAfter, Err: err}
}

// discover returns the verifier for the issuer. The first call reads the metadata of the
// issuer, and others wait for it.
func (v *Verifier) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.verifier != nil {
		return v.verifier, nil
	}
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), v.client) // other requests use the result
	provider, err := oidc.NewProvider(ctx, v.o.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	var metadata struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	v.verifier = oidc.NewVerifier(v.o.Issuer, newKeySet(ctx, metadata.Keys, v.o.Now), &oidc.Config{
		ClientID: v.o.Audience, SupportedSigningAlgs: algorithms,
		SkipExpiryCheck: true, // checkTimes does it, with the same clock skew for all times
	})
	return v.verifier, nil
}

// checkTimes checks that a token is valid now. It must expire.
func (v *Verifier) checkTimes(claims map[string]any) error {
	now, skew := float64(v.o.Now().UnixMilli())/1000, clockSkew.Seconds()
	expiry, ok := claims["exp"].(float64)
	if !ok {
		return errors.New("the token has no expiry")
	}
	if now >= expiry+skew {
		return fmt.Errorf("the token expired %.0f seconds ago", now-expiry)
	}
	start, ok := claims["nbf"].(float64)
	if _, has := claims["nbf"]; has && !ok {
		return errors.New("the claim nbf is not a number")
	}
	if ok && now < start-skew {
		return fmt.Errorf("the token is valid in %.0f seconds", start-now)
	}
	return nil
}
