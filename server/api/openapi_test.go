package api_test

import (
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/api"
)

// The OpenAPI document is a promise: its diff shows what a change means for clients.
func TestOpenAPI(t *testing.T) {
	goldentest.File(t, "openapi.json", string(api.OpenAPI("test")))
}
