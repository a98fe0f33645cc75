package model

import (
	"path"
	"strings"
)

// FileKind is a kind of file that models read.
type FileKind string

// The kinds of files.
const (
	ImageFile FileKind = "image" // PNG, JPEG, GIF or WebP
	PDFFile   FileKind = "pdf"
)

// Attachment is a file in a message. Journals, recordings and digests of requests contain
// it without its content, which SHA256 identifies.
type Attachment struct {
	Name      string `json:"name"` // as shown in prompts
	MediaType string `json:"media_type"`
	SHA256    string `json:"sha256"` // lower-case hex
	Size      int64  `json:"size"`   // bytes
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	Pages     int    `json:"pages,omitempty"` // of a PDF; 0 = unknown

	// Tokens is an upper bound of the input tokens that the model of the request counts for
	// the file.
	Tokens int `json:"-"`
	// Content is the content, only while a model performs the request.
	Content []byte `json:"-"`
}

// Kind returns the kind of the file.
func (a *Attachment) Kind() FileKind {
	if strings.HasPrefix(a.MediaType, "image/") {
		return ImageFile
	}
	return PDFFile
}

// BaseName returns the last part of the name.
func (a *Attachment) BaseName() string { return path.Base(a.Name) }

// FileSupport describes the files that a provider can send to its models. A limit of 0 is
// none.
type FileSupport struct {
	Kinds      []FileKind
	ImageBytes int64    // of one image
	ImageEdge  int      // width or height in pixels
	Images     int      // number per request
	NotImages  []string // media types of images that it does not take
	PDFBytes   int64    // of one PDF
	PDFPages   int      // of one PDF
	PDFs       int      // number per request
	TotalBytes int64    // of all files of a request

	// Tokens returns an upper bound of the input tokens of a file.
	Tokens func(Attachment) int
}

// Multimodal is a model's Config whose provider can send files to models. name is the
// provider's name of the model.
type Multimodal interface {
	FileSupport(name string) FileSupport
}

// Attachments returns the files in the messages of a request, in order.
func (r *Request) Attachments() (out []Attachment) {
	for i := range r.Messages {
		out = append(out, r.Messages[i].Attachments...)
	}
	return out
}

// UnsupportedFiles returns the error of a provider that cannot send the files of a request,
// or nil if it has none.
func (r *Request) UnsupportedFiles(provider string) error {
	files := r.Attachments()
	if len(files) == 0 {
		return nil
	}
	return &Error{
		Kind: BadRequest, NotSent: true,
		Message: "the provider " + provider + " cannot send files to models, and the request has " + files[0].Name +
			": remove accepts from the LLM, or use a provider that can (openai, anthropic, bedrock, googleai)",
	}
}
