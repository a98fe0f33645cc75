package pin

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// Digest is the SHA-256 of a definition in its canonical form, in hex. An error
// says what in it cannot be told in one way only.
func Digest(d tool.Definition) (string, error) {
	input, err := canonical(d.Input)
	if err != nil {
		return "", fmt.Errorf("its input schema: %w", err)
	}
	output, err := canonical(d.Output)
	if err != nil {
		return "", fmt.Errorf("its output schema: %w", err)
	}
	b, err := json.Marshal([]any{d.Name, d.Title, d.Description, input, output, d.Hints})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// canonical is JSON with the members of its objects sorted and no blanks;
// nothing, as null, is none.
func canonical(b json.RawMessage) (json.RawMessage, error) {
	if b = bytes.TrimSpace(b); len(b) == 0 || string(b) == "null" {
		return nil, nil
	}
	if !json.Valid(b) { // which also bounds how deep it is
		return nil, errors.New("this is no JSON")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return sorted(d)
}

// member is one of an object's, in canonical form.
type member struct {
	name  string
	value json.RawMessage
}

// sorted reads one value of valid JSON.
func sorted(d *json.Decoder) (json.RawMessage, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		return elements(d)
	case json.Delim('{'):
		return members(d)
	}
	return encoded(token), nil
}

func elements(d *json.Decoder) (json.RawMessage, error) {
	out := []byte{'['}
	for d.More() {
		v, err := sorted(d)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	_, err := d.Token()
	return append(out, ']'), err
}

func members(d *json.Decoder) (json.RawMessage, error) {
	var all []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := sorted(d)
		if err != nil {
			return nil, err
		}
		all = append(all, member{fmt.Sprint(name), v})
	}
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	out := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			if m.name == all[i-1].name {
				return nil, fmt.Errorf("the member %q stands twice in an object", m.name)
			}
			out = append(out, ',')
		}
		out = append(append(append(out, encoded(m.name)...), ':'), m.value...)
	}
	_, err := d.Token()
	return append(out, '}'), err
}

// encoded is a text, number, truth value or null as JSON, with no character
// written otherwise than needed.
func encoded(v any) json.RawMessage {
	b, _ := jsonvalue.Marshal(v) // these always encode
	return b
}
