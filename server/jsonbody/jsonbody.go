package jsonbody

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
	// MaxBody is the default limit of a body, in bytes.
	MaxBody = 1 << 20
	// maxDepth is how deep the JSON of a request may be nested.
	maxDepth = 100
)

// Read reads the body of a request, at most limit bytes; 0 = MaxBody. It rejects bodies that
// JSON parsers read differently: with duplicate keys, invalid UTF-8, NUL characters or deep
// nesting. An empty body is correct. The error is a problem.
func Read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *problem.Problem) {
	if limit == 0 {
		limit = MaxBody
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, Unreadable(err)
	}
	return body, check(body)
}

// Unreadable returns the problem of a body that cannot be read.
func Unreadable(err error) *problem.Problem {
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem.New(problem.TooLarge, "the request body is larger than %d bytes", over.Limit)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return problem.New(problem.RequestTimeout, "the request body did not arrive in time")
	}
	return problem.New(problem.InvalidRequest, "the request body could not be read")
}

// check returns what is wrong with a request body, or nil. An empty body is correct.
func check(body []byte) *problem.Problem {
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return nil
	}
	c := checker{body: body, tokens: json.NewDecoder(bytes.NewReader(body))}
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

// checker reads a JSON value token by token.
type checker struct {
	body   []byte
	tokens *json.Decoder
	path   []string
}

// fail returns a problem at the current place.
func (c *checker) fail(format string, args ...any) *problem.Problem {
	return problem.New(problem.InvalidJSON, format, args...).At(problem.Pointer(c.path...))
}

// token reads the next token and checks its text.
func (c *checker) token() (json.Token, *problem.Problem) {
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
func (c *checker) value() *problem.Problem {
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
