package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// output is a result in the engine's words: what is structured is data, blocks
// of content are text.
func output(res *sdk.CallToolResult) (*tool.Output, error) {
	parts := make([]string, 0, len(res.Content))
	for _, c := range res.Content {
		parts = append(parts, block(c))
	}
	out := &tool.Output{Text: strings.Join(parts, "\n")}
	if res.StructuredContent != nil {
		out.Data = encoded(res.StructuredContent)
	}
	if !res.IsError {
		return out, nil
	}
	switch {
	case out.Text != "":
		return nil, errors.New(out.Text)
	case len(out.Data) > 0:
		return nil, errors.New(string(out.Data))
	}
	return nil, errors.New("the tool failed and does not say why")
}

// block is one block of content as a model reads it.
func block(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return blob("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return blob("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return text.OneLine(fmt.Sprintf("[resource %s %s]", c.Name, c.URI))
	case *sdk.EmbeddedResource:
		if c.Resource != nil {
			return contents(c.Resource)
		}
	}
	return "[content of a kind that is not known here]"
}

// contents is a resource as a model reads it.
func contents(r *sdk.ResourceContents) string {
	if len(r.Blob) > 0 {
		return "[resource " + r.URI + "]\n" + blob("data", r.MIMEType, len(r.Blob))
	}
	return "[resource " + r.URI + "]\n" + r.Text
}

// blob stands for bytes that no model reads here.
func blob(what, mime string, size int) string {
	if mime != "" {
		mime = " " + mime
	}
	return fmt.Sprintf("[%s%s, %s bytes]", what, mime, grouped(size))
}

// grouped is a number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// encoded is a value that came of JSON as JSON.
func encoded(v any) json.RawMessage {
	out, err := jsonvalue.Marshal(v)
	if err != nil {
		return nil // it came of JSON
	}
	return out
}
