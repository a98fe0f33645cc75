package opensearch

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// Signer signs a request by AWS's Signature Version 4, with credentials of its
// own finding. sum is the SHA-256 of the body in hex; an empty region is the
// machine's. Nothing of the request changes after it but its user agent.
type Signer func(ctx context.Context, req *http.Request, sum, region, service string) error

// All is every tool of this folder, in the order in which catalogues show them.
// sign serves auth.type sigv4.
func All(sign Signer) component.Set[tool.Settings, tool.Tool] {
	return component.Set[tool.Settings, tool.Tool]{listIndex(sign), indexMapping(sign), search(sign)}
}
