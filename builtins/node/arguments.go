package node

import (
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
)

// RepairArguments parses malformed tool call arguments. It returns the only object that
// matches the tool's schema, and an error if there is none or more than one. It
// implements engine.Host.Repair.
func RepairArguments(m engine.MalformedArguments) (args json.RawMessage, repairs []string, err error) {
	got := reply.Fit(m.Text, reply.Options{Wrapped: true, OtherTool: m.OtherTool}, m.Fits)
	switch got.Code {
	case "":
		return got.Value, got.Repairs, nil
	case reply.SeveralReadings:
		return nil, nil, errors.New("they can be read in several ways")
	}
	return nil, nil, errors.New("no reading of them fits the schema")
}
