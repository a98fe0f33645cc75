package auth

import (
	"context"
	"slices"
)

// The roles that are permissions. Every other role is the name of a group that agents
// grant permissions to.
const (
	View    = "view"    // read runs and agents
	Run     = "run"     // start, resume, fork and cancel runs; includes View
	Approve = "approve" // answer questions; includes View
	Admin   = "admin"   // everything
)

// Anonymous is the subject of clients of a server without authentication.
const Anonymous = "anonymous"

// Identity is an authenticated client.
type Identity struct {
	Subject string // name of the token, or a claim of it
	Issuer  string // what authenticated it: "tokens", the URL of an OpenID Connect issuer, or "" = nothing
	Tenant  string
	Roles   []string
}

// Can reports whether an identity may perform an action on an agent. If the agent lists
// roles for the action, the identity needs one of them; otherwise it needs the action as
// a role. An admin may do everything. Run never permits Approve. Who may run an agent, or
// approve its calls, may also view it.
func Can(id Identity, action string, agent map[string][]string) bool {
	if slices.Contains(id.Roles, Admin) {
		return true
	}
	permitted, restricted := agent[action]
	if !restricted {
		permitted = []string{action}
	}
	if slices.ContainsFunc(permitted, func(r string) bool { return slices.Contains(id.Roles, r) }) {
		return true
	}
	return action == View && (Can(id, Run, agent) || Can(id, Approve, agent))
}

type contextKey struct{}

// NewContext returns a context with an identity.
func NewContext(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// FromContext returns the identity of a request. Without one it returns false and the
// zero Identity, which may do nothing.
func FromContext(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(contextKey{}).(Identity)
	return id, ok
}
