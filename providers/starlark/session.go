package starlark

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/text"
)

// Limits of a conversation's variables, as for the variables tool.
const (
	maxValue     = 32 << 10  // bytes of one value's JSON
	maxValues    = 256 << 10 // bytes of all values
	maxVariables = 64
)

var variableName = text.Regexp(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// changes are a program's changes to variables, by name.
type changes map[string]change

// change is the new value of a variable; nil deletes it.
type change struct {
	Set json.RawMessage `json:",omitempty"`
}

// apply applies all changes of a successful program, or none.
func (c changes) apply(s *memory.Session) error {
	all := maps.Clone(s.Variables)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if delete(all, name); c[name].Set != nil {
			all[name] = c[name].Set
		}
	}
	size := 0
	for _, v := range all {
		size += len(v)
	}
	switch {
	case len(all) > maxVariables:
		return fmt.Errorf("there would be %d variables, the maximum is %d; delete one that is no longer needed", len(all), maxVariables)
	case size > maxValues:
		return fmt.Errorf("all variables together would be %d bytes, the maximum is %d; delete one that is no longer needed", size, maxValues)
	}
	s.Variables = all
	return nil
}
