package tool

import (
	"errors"

	"github.com/pexctl/pex/engine/tool"
)

// sessionOf is what the conversation keeps, or why it keeps nothing.
func sessionOf(call *tool.Call) (tool.CallSession, error) {
	if call.Session == nil {
		return nil, errors.New("nothing is kept between runs here (the agent has no memory: memory.backend is none); put what matters into your report instead")
	}
	return call.Session, nil
}
