package tool

import (
	"encoding/json"
	"fmt"
)

// CallStatus is how a tool call ended.
type CallStatus string

// The tool call statuses.
const (
	CallOK       CallStatus = "ok"
	CallError    CallStatus = "error"
	CallDenied   CallStatus = "denied"
	CallTimedOut CallStatus = "timeout"
	CallUnknown  CallStatus = "unknown" // a write that may have taken effect; see UnknownOutcome
	CallRunning  CallStatus = "running" // in run.calls: not finished
)

// Record is a tool call of a step.
type Record struct {
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	Result     any             `json:"result"` // text, or JSON if the tool returned JSON
	Status     CallStatus      `json:"status"`
	DurationMS int64           `json:"duration_ms"`
	Edited     bool            `json:"edited,omitempty"`  // Args were edited by a human
	Repairs    []ArgsRepair    `json:"repairs,omitempty"` // how Args differ from what the model wrote

	ModelText string `json:"-"` // Result for the model, if the tool returned both text and data
	CallID    string `json:"-"` // the model's id of the call
	Turn      string `json:"-"` // path of the scope that made the call
}

// ArgsRepair is a change that made a model's arguments fit the tool's schema. Long values
// are shortened to a string of head and tail.
type ArgsRepair struct {
	Path    string          `json:"path"`    // JSON Pointer of the value; "" = all arguments
	Repair  string          `json:"repair"`  // the change: "integer given as a string"
	Written json.RawMessage `json:"written"` // as the model wrote it; a string if it is not JSON
	Used    json.RawMessage `json:"used"`    // as passed to the tool
}

// String formats a repair on one line: /n: integer given as a string ("5" -> 5).
func (r ArgsRepair) String() string {
	text := fmt.Sprintf("%s (%s -> %s)", r.Repair, r.Written, r.Used)
	if r.Path != "" {
		text = r.Path + ": " + text
	}
	return text
}
