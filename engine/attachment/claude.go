package attachment

import "github.com/pexctl/pex/engine/model"

// The tokens of Claude models: an image has width × height / 750 tokens after it was scaled
// down, at most 1600, and at most 4784 for the models since Claude Opus 4.7
// (platform.claude.com/docs/en/build-with-claude/vision). A page of a PDF has 1500 to 3000
// tokens of text, and is also an image (docs/en/build-with-claude/pdf-support).
const (
	claudePixels = 750
	claudeImage  = 4784
	claudePage   = 3000 + claudeImage
)

// ClaudeTokens returns the most input tokens that a Claude model counts for a file, on any
// platform that serves it.
func ClaudeTokens(a model.Attachment) int {
	if a.Kind() == model.PDFFile {
		return PagesOf(a) * claudePage
	}
	return min((a.Width*a.Height+claudePixels-1)/claudePixels, claudeImage)
}
