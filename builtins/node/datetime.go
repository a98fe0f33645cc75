package node

import (
	"github.com/pexctl/pex/dsl/strftime"
	"github.com/pexctl/pex/engine"
)

// withDatetime adds the run's start time to a system prompt where the spec
// wants it there.
func withDatetime(v engine.View, text engine.Text) engine.Text {
	if v.Program.Datetime == "" {
		return text
	}
	return append(text, "\nCurrent date and time: ", strftime.Format(v.Started.UTC(), v.Program.Datetime), "\n")
}
