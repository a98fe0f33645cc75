package modelhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// EncodeBody returns the JSON of a request body, which must be an object. The fields of
// extra (the option extra_body) replace those of the same name, except stream: it
// determines how the reply is read.
func EncodeBody(body any, extra map[string]any) ([]byte, error) {
	out, err := jsonvalue.Marshal(body)
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
		if fields[name], err = jsonvalue.Marshal(value); err != nil {
			return nil, err
		}
	}
	return jsonvalue.Marshal(fields)
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

// IsTypeError reports whether JSON could be decoded except for a field of another type,
// which was left empty. Servers differ in fields that pex does not need.
func IsTypeError(err error) bool {
	_, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok
}
