package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/server/problem"
)

const (
	// maxBody is the default of Options.MaxBody.
	maxBody = 1 << 20
	// maxDepth is how deep the JSON of a request may be nested.
	maxDepth = 100
)

// checkBody rejects request bodies that JSON parsers read differently: with duplicate
// keys, invalid UTF-8, NUL characters, or deep nesting.
func checkBody(next http.Handler, limit int64) http.Handler {
	if limit == 0 {
		limit = maxBody
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || IsUpload(r) {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
		if err != nil {
			problem.Write(w, unreadableBody(err))
			return
		}
		if bad := checkJSON(body); bad != nil {
			problem.Write(w, bad)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func unreadableBody(err error) *problem.Problem {
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem.New(problem.TooLarge, "the request body is larger than %d bytes", over.Limit)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return problem.New(problem.RequestTimeout, "the request body did not arrive in time")
	}
	return problem.New(problem.InvalidRequest, "the request body could not be read")
}

// checkJSON returns what is wrong with a request body, or nil. An empty body is correct.
func checkJSON(body []byte) *problem.Problem {
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return nil
	}
	c := jsonChecker{body: body, tokens: json.NewDecoder(bytes.NewReader(body))}
	c.tokens.UseNumber()
	if bad := c.value(); bad != nil {
		return bad
	}
	if _, err := c.tokens.Token(); !errors.Is(err, io.EOF) {
		return problem.New(problem.InvalidJSON, "the request body must be one JSON value")
	}
	if !json.Valid(body) {
		return problem.New(problem.InvalidJSON, "the request body is not valid JSON")
	}
	return nil
}

// jsonChecker reads a JSON value token by token.
type jsonChecker struct {
	body   []byte
	tokens *json.Decoder
	path   []string
}

// fail returns a problem at the current place.
func (c *jsonChecker) fail(format string, args ...any) *problem.Problem {
	var pointer strings.Builder
	for _, name := range c.path {
		pointer.WriteString("/" + escapePointer(name))
	}
	return problem.New(problem.InvalidJSON, format, args...).At(pointer.String())
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// token reads the next token and checks its text.
func (c *jsonChecker) token() (json.Token, *problem.Problem) {
	start := c.tokens.InputOffset()
	t, err := c.tokens.Token()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, c.fail("invalid JSON at byte %d: %v", syntax.Offset, syntax)
	}
	if err != nil {
		return nil, c.fail("invalid JSON: unexpected end of the request body")
	}
	s, isString := t.(string)
	switch {
	case !isString:
	case !utf8.Valid(c.body[start:c.tokens.InputOffset()]):
		return nil, c.fail("invalid UTF-8 in a string")
	case strings.ContainsRune(s, 0):
		return nil, c.fail("NUL character in a string")
	}
	return t, nil
}

// value reads a value.
func (c *jsonChecker) value() *problem.Problem {
	t, bad := c.token()
	if bad != nil {
		return bad
	}
	if t != json.Delim('{') && t != json.Delim('[') {
		return nil
	}
	if len(c.path) >= maxDepth {
		return c.fail("the JSON is nested deeper than %d levels", maxDepth)
	}
	isObject, names := t == json.Delim('{'), map[string]bool{}
	for n := 0; c.tokens.More(); n++ {
		name := strconv.Itoa(n)
		if isObject {
			key, bad := c.token()
			if bad != nil {
				return bad
			}
			if name, _ = key.(string); names[name] {
				c.path = append(c.path, name)
				return c.fail("duplicate key %q", name)
			}
			names[name] = true
		}
		c.path = append(c.path, name)
		if bad := c.value(); bad != nil {
			return bad
		}
		c.path = c.path[:len(c.path)-1]
	}
	_, bad = c.token() // the closing delimiter
	return bad
}
