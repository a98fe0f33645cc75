package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
)

// secretPrefix starts every token, so that secret scanners find leaked ones.
const secretPrefix = "pex_"

// Token is a token as the server stores it: without its secret.
type Token struct {
	Name   string // subject of its identity
	SHA256 string // of the secret, in hexadecimal
	Tenant string // "" = the default tenant
	Roles  []string
}

// Tokens are the tokens that a server accepts. They are immutable.
type Tokens struct {
	sums       [][sha256.Size]byte
	identities []Identity
}

// NewTokens returns tokens. Names and sums must be unique, since a decision must be
// traceable to one token.
func NewTokens(all []Token) (*Tokens, error) {
	t := &Tokens{}
	names, sums := map[string]bool{}, map[[sha256.Size]byte]string{}
	for _, token := range all {
		raw, err := hex.DecodeString(token.SHA256)
		if err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("token %q: sha256 must have %d hexadecimal digits", token.Name, 2*sha256.Size)
		}
		sum := [sha256.Size]byte(raw)
		if other, ok := sums[sum]; ok {
			return nil, fmt.Errorf("tokens %q and %q have the same sha256", other, token.Name)
		}
		if token.Name == "" || token.Name == Anonymous || names[token.Name] {
			return nil, fmt.Errorf("token name %q is empty, reserved or a duplicate", token.Name)
		}
		names[token.Name], sums[sum] = true, token.Name
		t.sums = append(t.sums, sum)
		t.identities = append(t.identities, Identity{Subject: token.Name, Issuer: "tokens", Tenant: token.Tenant, Roles: token.Roles})
	}
	return t, nil
}

// Identify returns the identity of a secret. The time it takes does not depend on the
// secret, apart from its length. Nil Tokens contain no token.
func (t *Tokens) Identify(secret string) (Identity, bool) {
	if t == nil {
		return Identity{}, false
	}
	sum, found := sha256.Sum256([]byte(secret)), -1
	for i := range t.sums {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], t.sums[i][:]), i, found)
	}
	if found < 0 {
		return Identity{}, false
	}
	return t.identities[found], true
}

// NewToken returns a random secret with 256 bits, and its SHA-256 for a Token.
func NewToken() (secret, sum string) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	secret = secretPrefix + hex.EncodeToString(b[:])
	s := sha256.Sum256([]byte(secret))
	return secret, hex.EncodeToString(s[:])
}
