package lockfile

import (
	"context"

	"github.com/pexctl/pex/engine/tool"
)

// FailList returns a toolset whose List fails with an error that wraps why and
// tool.ErrChanged, which ends the run. Tools listed before still work.
func FailList(set tool.Toolset, why error) tool.Toolset { return failingToolset{set, why} }

type failingToolset struct {
	tool.Toolset
	why error
}

var _ tool.Toolset = failingToolset{}

// List implements tool.Toolset.
func (r failingToolset) List(context.Context, *tool.Call) (*tool.Listing, error) {
	return nil, changedError{r.why}
}

// changedError wraps tool.ErrChanged and has the message of why.
type changedError struct{ why error }

func (r changedError) Error() string { return r.why.Error() }

func (r changedError) Unwrap() []error { return []error{tool.ErrChanged, r.why} }
