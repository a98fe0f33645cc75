package lockfile

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

// Digest returns the SHA-256 of a definition in canonical form, in hex. An error says
// what in it is ambiguous.
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

// canonical returns JSON with sorted keys and no white space; null becomes nil.
func canonical(b json.RawMessage) (json.RawMessage, error) {
	if b = bytes.TrimSpace(b); len(b) == 0 || string(b) == "null" {
		return nil, nil
	}
	if !json.Valid(b) { // which also limits its depth
		return nil, errors.New("invalid JSON")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return sorted(d)
}

// member is a member of an object in canonical form.
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
	return toJSON(token), nil
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
				return nil, fmt.Errorf("duplicate member %q in an object", m.name)
			}
			out = append(out, ',')
		}
		out = append(append(append(out, toJSON(m.name)...), ':'), m.value...)
	}
	_, err := d.Token()
	return append(out, '}'), err
}

// toJSON encodes a string, number, boolean or null, escaping only what is necessary.
func toJSON(v any) json.RawMessage {
	b, _ := jsonvalue.Marshal(v) // these always encode
	return b
}
