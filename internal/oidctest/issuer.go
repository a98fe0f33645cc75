package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Issuer is a server with a discovery document and keys. Its URL is that of the issuer.
type Issuer struct {
	URL         string
	Discoveries atomic.Int32 // requests for the discovery document
	Fetches     atomic.Int32 // requests for the keys
	Down        atomic.Bool  // replies 503 to every request

	mu   sync.Mutex
	keys []*Key
}

// New starts an issuer with keys. It ends with the test.
func New(t testing.TB, keys ...*Key) *Issuer {
	t.Helper()
	i := &Issuer{keys: keys}
	s := httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(s.Close)
	i.URL = s.URL
	return i
}

// SetKeys replaces the keys.
func (i *Issuer) SetKeys(keys ...*Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	reply := map[string]any{}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		i.Discoveries.Add(1)
		reply = map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}}
	case "/keys":
		i.Fetches.Add(1)
		i.mu.Lock()
		keys := []any{}
		for _, k := range i.keys {
			keys = append(keys, k.public())
		}
		i.mu.Unlock()
		reply["keys"] = keys
	default:
		http.NotFound(w, r)
		return
	}
	if i.Down.Load() {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply) // the client may be gone
}

// Claims returns the claims of a valid token for an audience, with more claims. A claim that
// is nil is removed.
func (i *Issuer) Claims(audience string, more map[string]any) map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{"iss": i.URL, "aud": audience, "sub": "ann", "iat": now, "exp": now + 300}
	maps.Copy(claims, more)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// Key signs tokens.
type Key struct {
	ID  string
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
}

// RSA returns a key for RS256.
func RSA(t testing.TB, id string) *Key {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return &Key{ID: id, rsa: k}
}

// EC returns a key for ES256.
func EC(t testing.TB, id string) *Key {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &Key{ID: id, ec: k}
}

// Modulus returns the public part of an RSA key, for attacks.
func (k *Key) Modulus() []byte { return k.rsa.N.Bytes() }

// public returns the key as a JSON Web Key.
func (k *Key) public() map[string]any {
	if k.rsa != nil {
		return map[string]any{"kty": "RSA", "use": "sig", "kid": k.ID, "n": encode(k.rsa.N.Bytes()), "e": encode(big.NewInt(int64(k.rsa.E)).Bytes())}
	}
	point, err := k.ec.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	return map[string]any{"kty": "EC", "crv": "P-256", "use": "sig", "kid": k.ID, "x": encode(point[1:33]), "y": encode(point[33:])}
}

// Sign returns a token with claims.
func (k *Key) Sign(claims map[string]any) string {
	alg := "ES256"
	if k.rsa != nil {
		alg = "RS256"
	}
	return Token(map[string]any{"alg": alg, "kid": k.ID, "typ": "JWT"}, claims, func(text []byte) []byte {
		sum := sha256.Sum256(text)
		if k.rsa != nil {
			sig, err := rsa.SignPKCS1v15(rand.Reader, k.rsa, crypto.SHA256, sum[:])
			if err != nil {
				panic(err)
			}
			return sig
		}
		r, s, err := ecdsa.Sign(rand.Reader, k.ec, sum[:])
		if err != nil {
			panic(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	})
}

// Token returns a token with any header, claims and signature.
func Token(header, claims map[string]any, sign func(text []byte) []byte) string {
	text := encode(marshal(header)) + "." + encode(marshal(claims))
	return text + "." + encode(sign([]byte(text)))
}

// HMAC returns a function that signs with HS256.
func HMAC(secret []byte) func([]byte) []byte {
	return func(text []byte) []byte {
		h := hmac.New(sha256.New, secret)
		h.Write(text)
		return h.Sum(nil)
	}
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint("claims: ", err))
	}
	return b
}
