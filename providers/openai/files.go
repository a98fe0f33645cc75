package openai

import (
	"encoding/base64"
	"strings"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/model"
)

// parts returns the content of a message with files, which precede the text.
func parts(files []model.Attachment, text string) []contentPart {
	out := make([]contentPart, 0, len(files)+1)
	for i := range files {
		f := &files[i]
		data := "data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Content)
		if f.Kind() == model.PDFFile {
			out = append(out, contentPart{Type: "file", File: &filePart{Filename: f.BaseName(), FileData: data}})
			continue
		}
		out = append(out, contentPart{Type: "image_url", ImageURL: &imageURL{URL: data}})
	}
	if text != "" {
		out = append(out, contentPart{Type: "text", Text: text})
	}
	return out
}

var (
	_ model.Multimodal = (*Config)(nil)
	_ model.Multimodal = (*AzureConfig)(nil)
	_ model.Multimodal = (*MistralConfig)(nil)
	_ model.Multimodal = (*OllamaConfig)(nil)
)

// FileSupport implements model.Multimodal. OpenAI takes files of 50 MB per request
// (platform.openai.com/docs/guides/pdf-files), more than a run may have; another server at
// base_url may take less, or no PDF.
func (*Config) FileSupport(name string) model.FileSupport {
	return model.FileSupport{Kinds: []model.FileKind{model.ImageFile, model.PDFFile}, Tokens: tokensOf(name)}
}

// FileSupport implements model.Multimodal. Chat completions of Azure take at most 10 images
// of 20 MB (learn.microsoft.com/azure/ai-foundry/openai/how-to/gpt-with-vision), and PDF only
// through the responses API, which the provider does not use.
func (c *AzureConfig) FileSupport(name string) model.FileSupport {
	return model.FileSupport{Kinds: []model.FileKind{model.ImageFile}, Images: 10, Tokens: tokensOf(name)}
}

// FileSupport implements model.Multimodal. Mistral takes at most 8 images of 10 MB
// (docs.mistral.ai/capabilities/vision), and PDF only by URL. An image has at most 1540 × 1540
// pixels in patches of 28 pixels, older models 1024 × 1024 in patches of 16 pixels, each with a
// token for the end of a row.
func (*MistralConfig) FileSupport(string) model.FileSupport {
	const newest, oldest = 55*55 + 55, 64*64 + 64
	return model.FileSupport{
		Kinds: []model.FileKind{model.ImageFile}, Images: 8, ImageBytes: 10 << 20,
		Tokens: func(model.Attachment) int { return max(newest, oldest) },
	}
}

// FileSupport implements model.Multimodal. What an image costs depends on the model; 6404
// tokens, those of four tiles of Llama 3.2 Vision (docs.together.ai/docs/vision-overview), are
// the most of the common ones.
func (*OllamaConfig) FileSupport(string) model.FileSupport {
	return model.FileSupport{Kinds: []model.FileKind{model.ImageFile}, Tokens: func(model.Attachment) int { return 6404 }}
}

// The tokens of images by OpenAI's rules (platform.openai.com/docs/guides/images-vision,
// "Calculating costs"). Models with tiles scale an image to fit 2048 × 2048 pixels and its
// shorter side to 768, and count a base and each tile of 512 × 512: GPT-4o 85 and 170, others
// less, GPT-4o mini 2833 and 5667. Models with patches count each 32 × 32 pixels, at most 1536,
// times a factor of at most 2.46. The higher of both counts, since a server may serve any model.
const (
	tileBase, tileTokens         = 85, 170
	miniTileBase, miniTileTokens = 2833, 5667
	maxPatches, patchPercent     = 1536, 246
	// pageText is what a page of a PDF has beside its image. OpenAI publishes no number; it is
	// the upper one of Anthropic.
	pageText = 3000
	// pageEdge is the edge of the image of a page, of which only the tiles matter.
	pageEdge = 2048
)

// tokensOf returns the upper bound of the tokens of a file for a model.
func tokensOf(name string) func(model.Attachment) int {
	base, each := tileBase, tileTokens
	if strings.Contains(name, "gpt-4o-mini") {
		base, each = miniTileBase, miniTileTokens
	}
	return func(a model.Attachment) int {
		if a.Kind() == model.PDFFile {
			return attachment.PagesOf(a) * (pageText + imageTokens(pageEdge, pageEdge*3/2, base, each))
		}
		return imageTokens(a.Width, a.Height, base, each)
	}
}

func imageTokens(width, height, base, each int) int {
	patches := min(ceil(width, 32)*ceil(height, 32), maxPatches)
	short, long := float64(min(width, height)), float64(max(width, height))
	if long > 2048 {
		short, long = short*2048/long, 2048
	}
	if short > 768 {
		short, long = 768, long*768/short
	}
	tiles := ceil(int(short+0.999), 512) * ceil(int(long+0.999), 512)
	return max(base+tiles*each, ceil(patches*patchPercent, 100))
}

// ceil returns n / by, rounded up.
func ceil(n, by int) int { return (n + by - 1) / by }
