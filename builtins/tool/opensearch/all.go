package opensearch

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// Signer signs a request with AWS Signature Version 4, using credentials that it finds
// itself. sum is the hex-encoded SHA-256 of the body. If region is empty, the machine's
// region is used. After signing, only the user agent may change.
type Signer func(ctx context.Context, req *http.Request, sum, region, service string) error

// All returns every tool of this package, in the order of the reference. sign is used for
// auth.type sigv4.
func All(sign Signer) component.Set[tool.Settings, tool.Tool] {
	return component.Set[tool.Settings, tool.Tool]{listIndex(sign), indexMapping(sign), search(sign)}
}
