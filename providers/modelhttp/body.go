package modelhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// EncodeBody returns the JSON of a request body, which must be an object. The fields of
// extra (the option extra_body) replace those of the same name, except stream: it
// determines how the reply is read.
func EncodeBody(body any, extra map[string]any) ([]byte, error) {
	out, err := encode(body)
	if err != nil || len(extra) == 0 {
		return out, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(out, &fields); err != nil {
		return nil, err
	}
	for name, value := range extra {
		if name == "stream" {
			continue
		}
		if fields[name], err = encode(value); err != nil {
			return nil, err
		}
	}
	return encode(fields)
}

// encode returns the JSON of a value. Unlike json.Marshal it does not escape <, > and &,
// which prompts often contain.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Post sends a body to a URL. The response's status is below 400: the transport returns
// errors for all others. The caller closes the response's body.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	return c.HTTP.HTTP().Do(req)
}
