package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/builtins/tool/page"
	"github.com/pexctl/pex/engine/tool"
)

// readable makes a body something that a model can read: JSON stays JSON,
// pages become text, and what is neither is an error.
func readable(body []byte, contentType string, at *url.URL) (*tool.Output, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, params, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	text := decoded(body, params["charset"])
	switch {
	case strings.HasSuffix(media, "json") && json.Valid(body):
		return &tool.Output{Data: bytes.TrimSpace(body)}, nil
	case media == "text/html" || media == "application/xhtml+xml":
		title, text := page.Text(text, at)
		if title != "" {
			text = "Title: " + title + "\n\n" + text
		}
		return &tool.Output{Text: text}, nil
	case isText(media) && bytes.IndexByte(body, 0) < 0:
		return &tool.Output{Text: text}, nil
	}
	return nil, fmt.Errorf("the answer is %s (%s), which is not text", media, size(int64(len(body))))
}

func isText(media string) bool {
	if strings.HasPrefix(media, "text/") {
		return true
	}
	for _, word := range []string{"json", "xml", "yaml", "javascript", "toml", "x-ndjson", "csv", "sql"} {
		if strings.HasSuffix(media, word) {
			return true
		}
	}
	return false
}

// decoded is a body as UTF-8. Of the old charsets only Latin-1 is read, which
// is what most pages that are not UTF-8 are written in.
func decoded(body []byte, charset string) string {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "windows-1252", "us-ascii":
		runes := make([]rune, len(body))
		for i, b := range body {
			runes[i] = rune(b)
		}
		return string(runes)
	}
	return strings.ToValidUTF8(string(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))), "\uFFFD")
}
