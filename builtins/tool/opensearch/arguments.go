package opensearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
)

// argument is one that a tool takes: where its value goes, and what it must be.
type argument struct {
	name string
	to   any
	kind string
}

// arguments reads a call's arguments by their exact names, which encoding/json
// alone would not: "INDEX" is no way around an index that the author fixed.
func arguments(call *engine.Call, all ...argument) error {
	given := map[string]json.RawMessage{}
	if len(call.Args) > 0 {
		if err := json.Unmarshal(call.Args, &given); err != nil || given == nil {
			return errors.New("the arguments are no JSON object")
		}
	}
	for _, a := range all {
		raw, ok := given[a.name]
		delete(given, a.name)
		if !ok || string(raw) == "null" {
			continue
		}
		if err := json.Unmarshal(raw, a.to); err != nil {
			return fmt.Errorf("argument %q must be %s", a.name, a.kind)
		}
	}
	unknown := slices.Sorted(maps.Keys(given))
	if len(unknown) == 0 {
		return nil
	}
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.name
	}
	return fmt.Errorf("there is no argument %q; the arguments are %s", clip(unknown[0]), strings.Join(names, ", "))
}
