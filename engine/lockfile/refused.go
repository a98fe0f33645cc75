package lockfile

import (
	"context"

	"github.com/pexctl/pex/engine/tool"
)

// Refused returns a toolset that is not listed because of why, which refuses the run.
// Tools listed before still work.
func Refused(set tool.Toolset, why error) tool.Toolset { return refused{set, why} }

type refused struct {
	tool.Toolset
	why error
}

var _ tool.Toolset = refused{}

// List implements tool.Toolset.
func (r refused) List(context.Context, *tool.Call) (*tool.Listing, error) {
	return nil, refusal{r.why}
}

// refusal is an error that wraps tool.ErrChanged with its own message.
type refusal struct{ why error }

func (r refusal) Error() string { return r.why.Error() }

func (r refusal) Unwrap() []error { return []error{tool.ErrChanged, r.why} }
