package golden

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// pointer is a JSON pointer of which a part may be any: /steps/*/started.
type pointer struct {
	name  string
	parts []string
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func parsePointer(name, path string) (pointer, error) {
	if !strings.HasPrefix(path, "/") {
		return pointer{}, fmt.Errorf("redact %s: %q is no JSON pointer: it begins with /, as in /steps/*/started", name, path)
	}
	parts := strings.Split(path[1:], "/")
	for i, p := range parts {
		parts[i] = unescape.Replace(p)
	}
	return pointer{name, parts}, nil
}

// values finds what pointers name in a JSON text; none, if it is not JSON.
func values(text string, pointers []pointer) []hit {
	w := &jsonWalk{text: text, d: json.NewDecoder(strings.NewReader(text))}
	if w.value(pointers) != nil {
		return nil
	}
	return w.hits
}

// jsonWalk goes through a JSON text and keeps where the values stand that it
// looks for.
type jsonWalk struct {
	text string
	d    *json.Decoder
	hits []hit
}

// value reads one value. Pointers are those that lead into it, without the
// parts that were gone.
func (w *jsonWalk) value(pointers []pointer) error {
	for _, p := range pointers {
		if len(p.parts) == 0 {
			return w.take(p.name)
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
		if err := w.value(into(pointers, key.(string))); err != nil {
			return err
		}
	}
	_, err := w.d.Token()
	return err
}

func (w *jsonWalk) items(pointers []pointer) error {
	for i := 0; w.d.More(); i++ {
		if err := w.value(into(pointers, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	_, err := w.d.Token()
	return err
}

// into is the pointers that go on below a key.
func into(pointers []pointer, key string) []pointer {
	var out []pointer
	for _, p := range pointers {
		if p.parts[0] == "*" || p.parts[0] == key {
			out = append(out, pointer{p.name, p.parts[1:]})
		}
	}
	return out
}

// take keeps a whole value.
func (w *jsonWalk) take(name string) error {
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
