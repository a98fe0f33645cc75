package drift

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/journal"
)

// fields returns the fields of a request by name.
func fields(q journal.Request) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(q.Fields))
	for _, f := range q.Fields {
		out[f.Name] = f.JSON
	}
	return out
}

// object returns the members of a JSON object; none of anything else.
func object(body json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	_ = json.Unmarshal(body, &out) // anything else has no members
	return out
}

func names(members map[string]json.RawMessage) []string {
	return slices.Sorted(maps.Keys(members))
}

// plain decodes a JSON value, with numbers as written.
func plain(body json.RawMessage) (v any) {
	if jsonvalue.Unmarshal(body, &v) != nil {
		return nil
	}
	return v
}

// sorted returns JSON on one line with sorted keys; invalid JSON is returned unchanged.
func sorted(body json.RawMessage) string {
	if !json.Valid(body) {
		return string(body)
	}
	b, err := jsonvalue.Marshal(plain(body))
	if err != nil {
		return string(body)
	}
	return string(b)
}

// pretty returns indented JSON with sorted keys; "" stays "".
func pretty(body json.RawMessage) string {
	if len(body) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(sorted(body)), "", "  ") != nil {
		return strings.TrimSuffix(string(body), "\n") + "\n"
	}
	return b.String() + "\n"
}

// line returns the text of a JSON string, or any other value as written.
func line(body json.RawMessage) string {
	if len(body) == 0 {
		return ""
	}
	if s, ok := plain(body).(string); ok {
		return s + "\n"
	}
	return string(body) + "\n"
}
