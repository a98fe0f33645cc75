package opensearch

import (
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/tool"
)

// argument is an argument that a tool accepts: its name, the destination of its value,
// and its type.
type argument struct {
	name string
	to   any
	kind string
}

// arguments decodes a call's arguments by their exact names.
func arguments(call *tool.Call, all ...argument) error {
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.name
	}
	given, err := tool.Arguments(call.Args, names...)
	if err != nil {
		return err
	}
	for _, a := range all {
		if raw := given[a.name]; len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, a.to) != nil {
			return fmt.Errorf("argument %q must be %s", a.name, a.kind)
		}
	}
	return nil
}
