package openai_test

import (
	"testing"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
	"github.com/pexctl/pex/providers/openai"
)

func TestFilesAreSent(t *testing.T) {
	modelhttptest.Files(t, site(), "files", attachment.PNG, attachment.PDF)
	mistral := modelhttptest.Provider{Reply: site().Reply, New: func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
		c := mistralDefaults()
		return openai.NewMistral(&c, s, change)
	}}
	modelhttptest.Files(t, mistral, "files_mistral", attachment.JPEG)
}

func TestTokensOfFiles(t *testing.T) {
	image := func(w, h int) model.Attachment {
		return model.Attachment{MediaType: attachment.PNG, Width: w, Height: h}
	}
	for _, c := range []struct {
		model string
		file  model.Attachment
		want  int
	}{
		{"gpt-4o", image(32, 32), 85 + 170},
		{"gpt-4.1-nano", image(1024, 1024), 2520},       // 1024 patches
		{"gpt-4.1-nano", image(16000, 16000), 3779},     // 1536 patches
		{"gpt-4o", image(2048, 512), 85 + 4*170 + 1755}, // 1024 patches count more than tiles
		{"gpt-4o-mini-2024-07-18", image(512, 512), 2833 + 5667},
		{"gpt-4o-mini", image(2048, 4096), 2833 + 6*5667}, // scaled to 768 × 1536
		{"gpt-5", model.Attachment{MediaType: attachment.PDF, Pages: 2}, 2 * (3000 + 3779)},
	} {
		got := (&openai.Config{}).FileSupport(c.model).Tokens(c.file)
		if got != c.want {
			t.Errorf("%s, %d × %d: %d, want %d", c.model, c.file.Width, c.file.Height, got, c.want)
		}
	}
}
