package host

import (
	"context"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// unreachable is an LLM whose base_url cannot be resolved. It fails when it is called, because a run may not need it.
// It never falls back to the provider's own server, which must not receive its requests.
type unreachable struct{ missing []string }

var _ model.Model = unreachable{}

// Generate returns an error that lists the missing variables.
func (u unreachable) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return nil, &model.Error{
		Kind: model.NotFound, Message: "its base_url refers to " + strings.Join(u.missing, ", ") + ", which is not set",
	}
}
