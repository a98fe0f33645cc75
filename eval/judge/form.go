package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pexctl/pex/dsl/schema"
)

// form is the required format of a reply; nil means any text.
type form struct{ schema *schema.Schema }

// forms caches the compiled schemas of questions, of which there are few.
type forms struct {
	mu    sync.Mutex
	known map[string]*form
}

func (f *forms) of(src []byte) (*form, error) {
	if len(src) == 0 {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.known[string(src)]; known != nil {
		return known, nil
	}
	compiled, err := schema.Compile(src)
	if err != nil {
		return nil, fmt.Errorf("the schema of the reply: %w", err)
	}
	if f.known == nil {
		f.known = map[string]*form{}
	}
	out := &form{compiled}
	f.known[string(src)] = out
	return out, nil
}

// Limits of the search in a reply.
const (
	maxReply = 256 << 10
	maxTries = 200 // braces that do not start a JSON value
)

// extract returns the last JSON object in a reply that matches the schema, since models reason before they judge and
// may quote what they judge.
func (f *form) extract(reply string) (string, error) {
	if f == nil {
		return reply, nil
	}
	if len(reply) > maxReply {
		return "", fmt.Errorf("it is too long (%d bytes)", len(reply))
	}
	found, wrong := "", errors.New("it contains no JSON object")
	tries := 0
	for at := 0; tries < maxTries; {
		open := strings.IndexByte(reply[at:], '{')
		if open < 0 {
			break
		}
		at += open
		v, n, err := first(reply[at:])
		if err != nil {
			if tries == 0 {
				wrong = err
			}
			tries++
			at++
			continue
		}
		if err := f.schema.Validate(v); err != nil {
			wrong = err
		} else {
			found = reply[at : at+n]
		}
		at += n
	}
	if found == "" {
		return "", wrong
	}
	return found, nil
}

// first decodes the JSON value at the start of a text. n is its length.
func first(text string) (v any, n int, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, int(d.InputOffset()), err
}
