package attachment

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/engine/model"
)

// The limits of every run. A request contains files in base64, which adds a third, and is sent
// with each call: Anthropic takes requests of at most 32 MB
// (platform.claude.com/docs/en/api/overview), which leaves 24 MB for files. Providers may have
// lower limits (model.FileSupport).
const (
	MaxBytes    = 20 << 20 // of one file
	MaxRunBytes = 23 << 20 // of all files of a run
	MaxFiles    = 20       // of a run
	MaxEdge     = 16384    // of an image in pixels: what WebP can express (RFC 9649, section 2.5)
)

// AssumedPages is the number of pages that token estimates assume for a PDF of unknown
// length. It is the maximum of most models.
const AssumedPages = 100

// PagesOf returns the number of pages of a PDF for estimates.
func PagesOf(a model.Attachment) int {
	if a.Pages == 0 {
		return AssumedPages
	}
	return a.Pages
}

// Check returns an *Error for the first of a run's files that exceeds the limits of every run,
// or nil.
func Check(files []model.Attachment) error {
	total := int64(0)
	for i, f := range files {
		if total += f.Size; total > MaxRunBytes {
			return &Error{Name: f.Name, Why: fmt.Sprintf("is too much: the files of a run for models may have %s together", size(MaxRunBytes)), Hint: hint}
		}
		if i == MaxFiles {
			return &Error{Name: f.Name, Why: fmt.Sprintf("is too much: a run may have %d files for models", MaxFiles), Hint: hint}
		}
	}
	return nil
}

// CheckSupport returns an *Error for the first file that an LLM accepts but its provider does
// not send, or nil.
func CheckSupport(files []model.Attachment, llm string, accepts []model.FileKind, s model.FileSupport) error {
	count, total := map[model.FileKind]int{}, int64(0)
	for _, f := range files {
		kind := f.Kind()
		if !slices.Contains(accepts, kind) {
			continue
		}
		count[kind]++
		total += f.Size
		bytes, most, unit := s.ImageBytes, s.Images, "images"
		if kind == model.PDFFile {
			bytes, most, unit = s.PDFBytes, s.PDFs, "PDF files"
		}
		why := ""
		switch {
		case slices.Contains(s.NotImages, f.MediaType):
			why = fmt.Sprintf("has the type %s, which the provider of LLM %s does not take; convert it to PNG", f.MediaType, llm)
		case exceeds(f.Size, bytes):
			why = fmt.Sprintf("has %s, more than the %s that the provider of LLM %s takes", size(f.Size), size(bytes), llm)
		case exceeds(max(f.Width, f.Height), s.ImageEdge):
			why = fmt.Sprintf("has %d × %d pixels, and the provider of LLM %s takes %d in each direction", f.Width, f.Height, llm, s.ImageEdge)
		case exceeds(f.Pages, s.PDFPages):
			why = fmt.Sprintf("has %d pages, more than the %d that the provider of LLM %s takes", f.Pages, s.PDFPages, llm)
		case exceeds(count[kind], most):
			why = fmt.Sprintf("is too much: the provider of LLM %s takes %d %s", llm, most, unit)
		case exceeds(total, s.TotalBytes):
			why = fmt.Sprintf("is too much: the provider of LLM %s takes files of %s together", llm, size(s.TotalBytes))
		}
		if why != "" {
			return &Error{Name: f.Name, Why: why, Hint: hint}
		}
	}
	return nil
}

const hint = "make the file smaller, use fewer files, or remove its kind from accepts of the LLM"

func tooLarge(name string, most int64) *Error {
	return &Error{Name: name, Why: "is larger than " + size(most) + ", the maximum of a file for models", Hint: hint}
}

func exceeds[T int | int64](n, most T) bool { return most > 0 && n > most }

// size formats a number of bytes.
func size(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
