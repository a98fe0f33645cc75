package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Arguments returns a call's arguments by name and rejects names other than those given.
// Names are case-sensitive, unlike in encoding/json: "PATH" must not replace a "path"
// that the author fixed.
func Arguments(raw json.RawMessage, names ...string) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if len(raw) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(raw, &args); err != nil || args == nil {
		return nil, errors.New("the arguments are not a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("unknown argument %q; the arguments are %s", Excerpt(name, 200), strings.Join(names, ", "))
		}
	}
	return args, nil
}

// ArgumentsError reports that a tool cannot be called with its arguments. Nothing was
// called.
type ArgumentsError struct{ Err error }

// Error implements error.
func (e *ArgumentsError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ArgumentsError) Unwrap() error { return e.Err }
