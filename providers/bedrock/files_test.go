package bedrock_test

import (
	"testing"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

func TestFilesAreSent(t *testing.T) {
	modelhttptest.Files(t, provider(), "files", attachment.JPEG, attachment.PDF, attachment.GIF)
}

func TestTokensOfFiles(t *testing.T) {
	count := (&bedrock.Config{}).FileSupport(nova).Tokens
	if got := count(model.Attachment{MediaType: attachment.PNG, Width: 10, Height: 10}); got != 6404 {
		t.Error(got)
	}
	if got := count(model.Attachment{MediaType: attachment.PDF, Pages: 1}); got != 7784 {
		t.Error(got)
	}
}
