package genai_test

import (
	"testing"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/genai"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

func TestFilesAreSent(t *testing.T) {
	modelhttptest.Files(t, provider(), "files", attachment.PNG, attachment.PDF)
}

func TestTokensOfFiles(t *testing.T) {
	count := (&genai.Config{}).FileSupport("gemini-2.5-flash").Tokens
	for _, c := range []struct {
		file model.Attachment
		want int
	}{
		{model.Attachment{MediaType: attachment.PNG, Width: 384, Height: 384}, 1120},
		{model.Attachment{MediaType: attachment.PNG, Width: 960, Height: 540}, 6 * 258},
		{model.Attachment{MediaType: attachment.PNG, Width: 3072, Height: 3072}, 16 * 258},
		{model.Attachment{MediaType: attachment.PDF, Pages: 3}, 3 * 1120},
	} {
		if got := count(c.file); got != c.want {
			t.Errorf("%+v: %d, want %d", c.file, got, c.want)
		}
	}
}
