package attachment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/pexctl/pex/engine/model"
)

// The media types of files that models read.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	GIF  = "image/gif"
	WebP = "image/webp"
	PDF  = "application/pdf"
)

// SniffBytes is how many of its first bytes Sniff needs of a file.
const SniffBytes = 16

// Error reports a file that models cannot read. Its message names the file.
type Error struct {
	Name string // of the file
	Why  string // follows the name: "is larger than ..."
	Hint string // how to fix it, or ""
}

// Error returns the message without the hint.
func (e *Error) Error() string { return fmt.Sprintf("file %q %s", e.Name, e.Why) }

// Sniff returns the media type of a file that models may read by its first bytes, or "" for
// any other file.
func Sniff(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return GIF
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return WebP
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return PDF
	}
	return ""
}

// KindOf returns the kind of a file with a media type that Sniff returns.
func KindOf(mediaType string) model.FileKind {
	return (&model.Attachment{MediaType: mediaType}).Kind()
}

// Inspect reads a file. The error is an *Error if models cannot read the file: it is of
// another type, damaged or larger than MaxBytes.
func Inspect(name string, content io.Reader) (model.Attachment, error) {
	b, err := io.ReadAll(io.LimitReader(content, MaxBytes+1))
	if err != nil {
		return model.Attachment{}, fmt.Errorf("read file %q: %w", name, err)
	}
	if len(b) > MaxBytes {
		return model.Attachment{}, tooLarge(name, MaxBytes)
	}
	sum := sha256.Sum256(b)
	a := model.Attachment{Name: name, MediaType: Sniff(b), SHA256: hex.EncodeToString(sum[:]), Size: int64(len(b))}
	switch a.MediaType {
	case "":
		return a, &Error{Name: name, Why: "is neither an image (PNG, JPEG, GIF, WebP) nor a PDF"}
	case PDF:
		if !bytes.Contains(b[max(0, len(b)-trailerBytes):], []byte("%%EOF")) {
			return a, &Error{Name: name, Why: "is a damaged PDF: its end is missing"}
		}
		a.Pages = countPages(b)
		return a, nil
	}
	if a.Width, a.Height, err = dimensions(a.MediaType, b); err != nil {
		return a, &Error{Name: name, Why: fmt.Sprintf("is a damaged image (%s): %v", a.MediaType, err)}
	}
	if max(a.Width, a.Height) > MaxEdge {
		return a, &Error{Name: name, Why: fmt.Sprintf("has %d × %d pixels; an image for a model may have %d in each direction", a.Width, a.Height, MaxEdge), Hint: hint}
	}
	return a, nil
}

// dimensions returns the width and height of an image without decoding it. The error says
// that it is damaged or empty.
func dimensions(mediaType string, b []byte) (width, height int, err error) {
	var c image.Config
	switch r := bytes.NewReader(b); mediaType {
	case PNG:
		if c, err = png.DecodeConfig(r); err == nil && !bytes.Contains(b[max(0, len(b)-trailerBytes):], []byte("IEND")) {
			err = io.ErrUnexpectedEOF
		}
	case JPEG:
		if c, err = jpeg.DecodeConfig(r); err == nil && !bytes.Contains(b[max(0, len(b)-trailerBytes):], []byte("\xff\xd9")) {
			err = io.ErrUnexpectedEOF
		}
	case GIF:
		c, err = gif.DecodeConfig(r)
	default:
		c.Width, c.Height, err = webpSize(b)
	}
	if err == nil && (c.Width <= 0 || c.Height <= 0) {
		err = fmt.Errorf("it has %d × %d pixels", c.Width, c.Height)
	}
	return c.Width, c.Height, err
}

// trailerBytes is how much of the end of a file is searched for the mark of its end. Some
// programs append bytes to a complete file.
const trailerBytes = 64 << 10
