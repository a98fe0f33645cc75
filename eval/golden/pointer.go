package golden

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// pointer is a JSON pointer whose parts may be *, as in /steps/*/started.
type pointer struct {
	name  string
	parts []string
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func parsePointer(name, path string) (pointer, error) {
	if !strings.HasPrefix(path, "/") {
		return pointer{}, fmt.Errorf("redact %s: %q is not a JSON pointer: it must begin with /, as in /steps/*/started", name, path)
	}
	parts := strings.Split(path[1:], "/")
	for i, p := range parts {
		parts[i] = unescape.Replace(p)
	}
	return pointer{name, parts}, nil
}

// values returns the values in a JSON text that the pointers select, or none if the text is not JSON.
func values(text string, pointers []pointer) []hit {
	w := &jsonWalk{text: text, d: json.NewDecoder(strings.NewReader(text))}
	if w.value(pointers) != nil {
		return nil
	}
	return w.hits
}

// jsonWalk reads a JSON text and records the positions of selected values.
type jsonWalk struct {
	text string
	d    *json.Decoder
	hits []hit
}

// value reads one value. The pointers are relative to it.
func (w *jsonWalk) value(pointers []pointer) error {
	for _, p := range pointers {
		if len(p.parts) == 0 {
			return w.record(p.name)
		}
	}
	if len(pointers) == 0 {
		var skipped json.RawMessage
		return w.d.Decode(&skipped)
	}
	t, err := w.d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return w.members(pointers)
	case json.Delim('['):
		return w.items(pointers)
	}
	return nil
}

func (w *jsonWalk) members(pointers []pointer) error {
	for w.d.More() {
		key, err := w.d.Token()
		if err != nil {
			return err
		}
		if err := w.value(descend(pointers, key.(string))); err != nil {
			return err
		}
	}
	_, err := w.d.Token()
	return err
}

func (w *jsonWalk) items(pointers []pointer) error {
	for i := 0; w.d.More(); i++ {
		if err := w.value(descend(pointers, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	_, err := w.d.Token()
	return err
}

// descend returns the pointers that match key, without their first part.
func descend(pointers []pointer, key string) []pointer {
	var out []pointer
	for _, p := range pointers {
		if p.parts[0] == "*" || p.parts[0] == key {
			out = append(out, pointer{p.name, p.parts[1:]})
		}
	}
	return out
}

// record records a whole value.
func (w *jsonWalk) record(name string) error {
	var raw json.RawMessage
	if err := w.d.Decode(&raw); err != nil {
		return err
	}
	to := int(w.d.InputOffset())
	h := hit{from: to - len(raw), to: to, name: name, value: string(raw), quoted: true}
	var s string
	if json.Unmarshal(raw, &s) == nil && raw[0] == '"' {
		h.value = s
	}
	w.hits = append(w.hits, h)
	return nil
}
