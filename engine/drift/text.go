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

// fields are the fields of a request by name.
func fields(q journal.Request) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(q.Fields))
	for _, f := range q.Fields {
		out[f.Name] = f.JSON
	}
	return out
}

// object is the members of a JSON object; of anything else none.
func object(body json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	_ = json.Unmarshal(body, &out) // what is no object has no members
	return out
}

func names(members map[string]json.RawMessage) []string {
	return slices.Sorted(maps.Keys(members))
}

// plain is a JSON value as Go has it, numbers as they are written.
func plain(body json.RawMessage) (v any) {
	if jsonvalue.Unmarshal(body, &v) != nil {
		return nil
	}
	return v
}

// sorted is JSON on one line with its members in order, so that only their
// values make a difference; what is not JSON stays as it is.
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

// pretty is JSON as people read it, its members in order; "" stays "".
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

// line is a JSON string as it reads, any other value as it is written.
func line(body json.RawMessage) string {
	if len(body) == 0 {
		return ""
	}
	if s, ok := plain(body).(string); ok {
		return s + "\n"
	}
	return string(body) + "\n"
}
