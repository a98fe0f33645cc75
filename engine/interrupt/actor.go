package interrupt

import (
	"strings"

	"github.com/pexctl/pex/engine/exprenv"
)

// Actor is who makes decisions. The journal stores it with each decision.
type Actor struct {
	User   string `json:"user,omitempty"`   // account that runs the process, or subject of an authenticated client
	Host   string `json:"host,omitempty"`   // name of the machine, of an account
	Issuer string `json:"issuer,omitempty"` // what authenticated the client of a server; "" = the operating system

	// Roles and Tenant are those of an authenticated client. The journal stores what the
	// rule of the question read.
	Roles  []string `json:"roles,omitempty"`
	Tenant string   `json:"tenant,omitempty"`
}

// LocalIssuer is the issuer of the accounts of the operating system in expressions.
const LocalIssuer = "local"

// String returns user@host, or the part that is known, and the roles.
func (a Actor) String() string {
	text := a.User + a.Host
	if a.User != "" && a.Host != "" {
		text = a.User + "@" + a.Host
	}
	if len(a.Roles) > 0 {
		text += " (" + strings.Join(a.Roles, ", ") + ")"
	}
	return text
}

// IsZero reports whether nothing is known about the actor.
func (a Actor) IsZero() bool {
	return a.User == "" && a.Host == "" && a.Issuer == "" && a.Tenant == "" && len(a.Roles) == 0
}

// Known reports whether an operating system or an issuer vouches for the actor. Clients of
// a server without authentication are not known.
func (a Actor) Known() bool { return a.User != "" && a.issuer() != "" }

// Same reports whether two actors are the same person as far as is known: the same subject
// of the same issuer. An account is the same on every machine.
func (a Actor) Same(b Actor) bool { return a.User == b.User && a.issuer() == b.issuer() }

func (a Actor) issuer() string {
	if a.Issuer == "" && a.Host != "" {
		return LocalIssuer
	}
	return a.Issuer
}

// Identity returns the actor without roles and tenant.
func (a Actor) Identity() Actor { return Actor{User: a.User, Host: a.Host, Issuer: a.Issuer} }

// As returns the actor with only those of roles and tenant that an expression reads.
func (a Actor) As(source string) Actor {
	out := a.Identity()
	if strings.Contains(source, "roles") {
		out.Roles = a.Roles
	}
	if strings.Contains(source, "tenant") {
		out.Tenant = a.Tenant
	}
	return out
}

// Env returns the actor as expressions see it.
func (a Actor) Env() exprenv.Actor {
	return exprenv.Actor{Subject: a.User, Issuer: a.issuer(), Roles: a.Roles, Tenant: a.Tenant}
}
