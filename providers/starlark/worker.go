package starlark

import (
	"encoding/json"
	"io"
	"os"
	"syscall"

	"github.com/pexctl/pex/engine/tool"
)

// workerVariable is set in a child that runs one program.
const workerVariable = "PEX_STARLARK_WORKER"

// settings are the arguments of sandboxfs.New.
type settings struct {
	Dir, Root string
	Allow     []string
	Below     string
	Exclude   []string
	Private   []string
}

// request is passed to a child on its standard input.
type request struct {
	Source    string
	Inputs    json.RawMessage
	Context   json.RawMessage // of a guided step; nil = none
	Settings  settings
	Keeps     bool // variables may be used
	Variables map[string]json.RawMessage
	MaxSteps  uint64
	MaxMemory uint64
	MaxBytes  int
}

// reply is returned by a child on its standard output.
type reply struct {
	Result  json.RawMessage `json:",omitempty"` // nil = none
	Printed string          `json:",omitempty"`
	Changes changes         `json:",omitempty"`
	Error   string          `json:",omitempty"`
}

// Serve runs one program and exits if the tool started this process as a worker; otherwise it returns immediately. main
// must call it first, and so must TestMain of tests that call the tool.
func Serve() {
	if os.Getenv(workerVariable) == "" {
		return
	}
	// os.Exit would take a second in the race detector.
	syscall.Exit(serve(os.Stdin, os.Stdout))
}

func serve(in io.Reader, out io.Writer) (code int) {
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return 1
	}
	watchMemory(r.MaxMemory)
	answer := json.NewEncoder(out)
	answer.SetEscapeHTML(false) // escapes would make the result longer than allowed
	if err := answer.Encode(r.run()); err != nil {
		return 1
	}
	return 0
}

// output returns the result: a string as text, other values as JSON, after the printed
// text.
func (a *reply) output() *tool.Output {
	var text string
	isText := len(a.Result) > 0 && a.Result[0] == '"' && json.Unmarshal(a.Result, &text) == nil
	switch {
	case a.Result == nil && a.Printed == "":
		return &tool.Output{Text: "[the program has no result; assign to result, or print]"}
	case a.Result == nil:
		return &tool.Output{Text: a.Printed}
	case isText:
		return &tool.Output{Text: a.Printed + text}
	case a.Printed == "":
		return &tool.Output{Data: a.Result}
	}
	return &tool.Output{Text: a.Printed + string(a.Result), Data: a.Result}
}

// withPrinted returns the error with the text printed before it.
func (a *reply) withPrinted() string {
	if a.Printed == "" {
		return a.Error
	}
	return a.Error + "\nprinted before:\n" + a.Printed
}
