package anthropic_test

import (
	"testing"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

func TestFilesAreSent(t *testing.T) {
	modelhttptest.Files(t, site(), "files", attachment.PNG, attachment.PDF, attachment.WebP)
}
