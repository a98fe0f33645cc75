package pin

import (
	"context"

	"github.com/pexctl/pex/engine"
)

// Refused is a toolset that is not asked what it has, because of why, which
// refuses the run. What was listed before goes on working.
func Refused(set engine.Toolset, why error) engine.Toolset { return refused{set, why} }

type refused struct {
	engine.Toolset
	why error
}

var _ engine.Toolset = refused{}

// List implements engine.Toolset.
func (r refused) List(context.Context, *engine.Call) (*engine.Listing, error) {
	return nil, refusal{r.why}
}

// refusal is an error that wraps engine.ErrToolsChanged, in words of its own.
type refusal struct{ why error }

func (r refusal) Error() string { return r.why.Error() }

func (r refusal) Unwrap() []error { return []error{engine.ErrToolsChanged, r.why} }
