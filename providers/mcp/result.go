package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// toOutput converts a result: structured content becomes data, content blocks become
// text.
func toOutput(res *sdk.CallToolResult) (*tool.Output, error) {
	parts := make([]string, 0, len(res.Content))
	for _, c := range res.Content {
		parts = append(parts, contentText(c))
	}
	out := &tool.Output{Text: strings.Join(parts, "\n")}
	if res.StructuredContent != nil {
		out.Data = toJSON(res.StructuredContent)
	}
	if !res.IsError {
		return out, nil
	}
	switch {
	case out.Text != "":
		return nil, resultError(out.Text)
	case len(out.Data) > 0:
		return nil, resultError(out.Data)
	}
	return nil, resultError("the tool failed without an error message")
}

// resultError is a result with isError: the failure of a tool, not of its server.
type resultError string

// Error implements error.
func (e resultError) Error() string { return string(e) }

// contentText returns a content block as text for a model.
func contentText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return binaryNote("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return binaryNote("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return text.OneLine(fmt.Sprintf("[resource %s %s]", c.Name, c.URI))
	case *sdk.EmbeddedResource:
		if c.Resource != nil {
			return resourceText(c.Resource)
		}
	}
	return "[content of an unsupported type]"
}

// resourceText returns a resource as text for a model.
func resourceText(r *sdk.ResourceContents) string {
	if len(r.Blob) > 0 {
		return "[resource " + r.URI + "]\n" + binaryNote("data", r.MIMEType, len(r.Blob))
	}
	return "[resource " + r.URI + "]\n" + r.Text
}

// binaryNote describes binary content, which models do not receive.
func binaryNote(what, mime string, size int) string {
	if mime != "" {
		mime = " " + mime
	}
	return fmt.Sprintf("[%s%s, %s bytes]", what, mime, thousands(size))
}

// thousands formats a number with thousands separators.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// toJSON encodes a value that was decoded from JSON.
func toJSON(v any) json.RawMessage {
	out, err := jsonvalue.Marshal(v)
	if err != nil {
		return nil // it was decoded from JSON
	}
	return out
}
