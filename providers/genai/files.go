package genai

import (
	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/model"
)

var _ model.Multimodal = (*Config)(nil)

// FileSupport implements model.Multimodal. A request with inline files has at most 20 MB, of
// which base64 takes a quarter; images are PNG, JPEG or WebP, and a PDF has at most 1000 pages
// (ai.google.dev/gemini-api/docs/image-understanding and .../document-processing).
func (*Config) FileSupport(string) model.FileSupport {
	return model.FileSupport{
		Kinds: []model.FileKind{model.ImageFile, model.PDFFile}, NotImages: []string{attachment.GIF},
		PDFPages: 1000, TotalBytes: 14 << 20, Tokens: fileTokens,
	}
}

// The tokens of files (ai.google.dev/gemini-api/docs/tokens and .../media-resolution). Up to
// Gemini 2.5, an image of at most 384 pixels in each direction and a page of a PDF have 258. A
// larger image is cut into tiles of 258 each: squares with a 1.5th of the shorter side, but of 256
// to 768 pixels. From Gemini 3 on, images and pages have at most 1120 by default.
const (
	tileTokens     = 258
	smallEdge      = 384
	highResolution = 1120
)

// fileTokens returns the most tokens of a file that any Gemini model counts.
func fileTokens(a model.Attachment) int {
	if a.Kind() == model.PDFFile {
		return attachment.PagesOf(a) * highResolution
	}
	tiles := 1
	if a.Width > smallEdge || a.Height > smallEdge {
		side := min(max(min(a.Width, a.Height)*2/3, 256), 768)
		tiles = ((a.Width + side - 1) / side) * ((a.Height + side - 1) / side)
	}
	return max(tiles*tileTokens, highResolution)
}
