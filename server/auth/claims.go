package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Verifier verifies tokens of an OpenID Connect issuer. It is safe for concurrent use.
type Verifier interface {
	// Verify returns the claims of a valid token, as JSON values. The error is an
	// *UnavailableError if tokens cannot be verified now; every other error means that the
	// token is invalid. No error contains the token.
	Verify(ctx context.Context, token string) (claims map[string]any, err error)
}

// UnavailableError says why tokens of an issuer cannot be verified now.
type UnavailableError struct {
	RetryAfter time.Duration
	Err        error
}

func (e *UnavailableError) Error() string { return "the issuer is unavailable: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// OIDC identifies clients by tokens of an OpenID Connect issuer. Names of claims may be
// dotted, for nested claims.
type OIDC struct {
	Verifier Verifier
	Issuer   string
	Subject  string   // claim with the name of the client
	Tenant   string   // claim with its tenant; "" = the default tenant
	Roles    string   // claim with its roles
	Known    []string // the roles that count
}

// maxSubject is the maximum size of a subject in bytes: journals store it with each
// decision.
const maxSubject = 256

// identify returns the identity that claims describe. The tenant may be unknown.
func (o *OIDC) identify(claims map[string]any) (Identity, error) {
	v, _ := claim(claims, o.Subject)
	subject, _ := v.(string)
	if !isSubject(subject) {
		return Identity{}, fmt.Errorf("claim %s is not a name of 1 to %d printable bytes", o.Subject, maxSubject)
	}
	if verified, ok := claims["email_verified"]; ok && o.Subject == "email" && verified != true && verified != "true" {
		return Identity{}, errors.New("the email address is not verified")
	}
	id := Identity{Subject: subject, Issuer: o.Issuer}
	if o.Tenant != "" {
		v, _ := claim(claims, o.Tenant)
		id.Tenant, _ = v.(string)
	}
	roles, _ := claim(claims, o.Roles)
	for _, role := range words(roles) {
		if slices.Contains(o.Known, role) && !slices.Contains(id.Roles, role) {
			id.Roles = append(id.Roles, role)
		}
	}
	return id, nil
}

func isSubject(s string) bool {
	return s != "" && len(s) <= maxSubject && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// claim returns the claim with a dotted name. A claim whose own name has dots, such as
// https://example.com/roles, takes precedence over a nested one.
func claim(claims map[string]any, name string) (any, bool) {
	if v, ok := claims[name]; ok {
		return v, true
	}
	for i, r := range name {
		if r != '.' {
			continue
		}
		if inner, ok := claims[name[:i]].(map[string]any); ok {
			if v, ok := claim(inner, name[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// words returns the strings of a list, or the words of a string.
func words(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}
