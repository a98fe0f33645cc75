package httprecord

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
)

// Headers that describe how a body is written in a file.
const (
	encodingHeader = "Body-Encoding" // base64: each line is a piece
	piecesHeader   = "Body-Pieces"   // sizes in bytes of the pieces of a text; without it the body is one piece
)

// unnamed matches the start of a part without a name, for which the library panics.
var unnamed = regexp.MustCompile(`(?m)^-- --\r?$`)

// Format writes the recording as a file.
func (r *Recording) Format() []byte {
	var head strings.Builder
	for _, f := range []struct{ name, value string }{
		{"origin", r.Origin}, {"date", r.Date}, {"base_url", r.BaseURL}, {"model", r.Model},
	} {
		if f.value != "" {
			fmt.Fprintf(&head, "%s: %s\n", f.name, f.value)
		}
	}
	if r.Noise {
		head.WriteString("words: noise\n")
	}
	if r.Note != "" {
		head.WriteString("\n" + strings.TrimSpace(r.Note) + "\n")
	}
	a := &txtar.Archive{Comment: []byte(head.String())}
	for i, x := range r.Exchanges {
		first := x.Request.Method + " " + x.Request.Path
		a.Files = append(
			a.Files,
			txtar.File{Name: fmt.Sprintf("%d.request", i+1), Data: message(first, x.Request.Header, [][]byte{x.Request.Body})},
			txtar.File{Name: fmt.Sprintf("%d.response", i+1), Data: message(fmt.Sprint(x.Response.Status), x.Response.Header, x.Response.Pieces)},
		)
	}
	return txtar.Format(a)
}

// message formats a first line, headers, an empty line and a body, as in HTTP.
func message(first string, header http.Header, pieces [][]byte) []byte {
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	body := bytes.Join(pieces, nil)
	switch {
	case !readable(body):
		header.Set(encodingHeader, "base64")
		body = lines(pieces)
	case len(pieces) > 1, len(body) > 0 && body[len(body)-1] != '\n':
		header.Set(piecesHeader, strings.Trim(fmt.Sprint(sizes(pieces)), "[]"))
	}
	var out bytes.Buffer
	out.WriteString(first + "\n")
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			out.WriteString(name + ": " + value + "\n")
		}
	}
	if len(body) > 0 {
		out.WriteString("\n")
		out.Write(body)
	}
	if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
		out.WriteString("\n")
	}
	return out.Bytes()
}

// readable reports whether a body can be stored as text. Lines may end with CR LF, but not CR, which editors do not
// preserve.
func readable(body []byte) bool {
	if !utf8.Valid(body) || unnamed.Match(body) || txtar.NeedsQuote(body) {
		return false
	}
	for i, c := range body {
		switch {
		case c == '\n', c == '\t', c == '\r' && i+1 < len(body) && body[i+1] == '\n':
		case c < ' ', c == 0x7f:
			return false
		}
	}
	return true
}

func lines(pieces [][]byte) []byte {
	var out bytes.Buffer
	for _, p := range pieces {
		out.WriteString(base64.StdEncoding.EncodeToString(p) + "\n")
	}
	return out.Bytes()
}
