package bedrock

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/model"
)

// files writes the files of a message. Documents have neutral names, as Bedrock recommends:
// models read the names as instructions, and only some characters are allowed.
func (w *writer) files(files []model.Attachment) (out []types.ContentBlock) {
	for i := range files {
		f := &files[i]
		if f.Kind() == model.PDFFile {
			name := fmt.Sprintf("document-%d", i+1)
			out = append(out, &types.ContentBlockMemberDocument{Value: types.DocumentBlock{
				Name: &name, Format: types.DocumentFormatPdf, Source: &types.DocumentSourceMemberBytes{Value: f.Content},
			}})
			continue
		}
		out = append(out, &types.ContentBlockMemberImage{Value: types.ImageBlock{
			Format: types.ImageFormat(strings.TrimPrefix(f.MediaType, "image/")), Source: &types.ImageSourceMemberBytes{Value: f.Content},
		}})
	}
	return out
}

var _ model.Multimodal = (*Config)(nil)

// FileSupport implements model.Multimodal. A request has at most 20 images of 3.75 MB with 8000
// pixels in each direction, and 5 documents of 4.5 MB
// (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html).
func (*Config) FileSupport(string) model.FileSupport {
	return model.FileSupport{
		Kinds: []model.FileKind{model.ImageFile, model.PDFFile}, ImageBytes: 15 << 20 / 4, ImageEdge: 8000, Images: 20,
		PDFBytes: 9 << 20 / 2, PDFs: 5, Tokens: fileTokens,
	}
}

// llamaImage is the tokens of an image in four tiles for Llama 3.2 Vision, the most of the
// other models of Bedrock.
const llamaImage = 6404

// fileTokens returns the most tokens of a file that any model of Bedrock counts.
func fileTokens(a model.Attachment) int {
	if a.Kind() == model.PDFFile {
		return attachment.ClaudeTokens(a)
	}
	return max(attachment.ClaudeTokens(a), llamaImage)
}
