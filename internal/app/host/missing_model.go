package host

import (
	"context"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// unreachable is an llm whose base_url cannot be made. It fails when it is
// called, not before, for a run may not need it; and it is never taken for the
// provider's own server, to which it would send what was meant for another.
type unreachable struct{ missing []string }

var _ model.Model = unreachable{}

// Generate says what is not set.
func (u unreachable) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return nil, &model.Error{
		Kind: model.NotFound, Message: "its base_url refers to " + strings.Join(u.missing, ", ") + ", which is not set",
	}
}
