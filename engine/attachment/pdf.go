package attachment

import (
	"bytes"
	"compress/zlib"
	"io"

	"github.com/pexctl/pex/engine/text"
)

// The objects of pages in a PDF, and the dictionaries of streams with compressed objects
// (ISO 32000-1, sections 7.5.7 and 7.7.3). /Pages is a node above pages.
var (
	pageObject = text.Regexp(`/Type\s*/Page([^A-Za-z0-9]|$)`)
	objectsOf  = text.Regexp(`/Type\s*/ObjStm`)
)

// maxInflated is the most bytes of compressed objects that countPages reads of one file. The
// objects of a page take some hundred bytes.
const maxInflated = 16 << 20

// countPages returns the number of pages of a PDF, or 0 if it is unknown: its objects are
// encrypted or damaged. Replaced versions of pages count too, so it may be too high.
func countPages(b []byte) int {
	n := len(pageObject().FindAllIndex(b, -1))
	left := int64(maxInflated)
	for _, at := range objectsOf().FindAllIndex(b, -1) {
		content := b[at[1]:]
		start := bytes.Index(content, []byte("stream"))
		end := bytes.Index(content, []byte("endobj"))
		if start < 0 || end >= 0 && end < start || left <= 0 {
			continue
		}
		r, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(content[start+len("stream"):], "\r\n")))
		if err != nil {
			continue
		}
		objects, _ := io.ReadAll(io.LimitReader(r, left)) // what precedes an error counts
		left -= int64(len(objects))
		n += len(pageObject().FindAllIndex(objects, -1))
	}
	if left <= 0 {
		return 0
	}
	return n
}
