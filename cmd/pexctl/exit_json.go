package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// failure is why a command failed, as -o json prints it.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Exit    int    `json:"exit"`
	printed bool   // on stderr, by whoever found it
}

// failureCodes are the codes of errors that have none of their own.
var failureCodes = map[int]string{
	exitNegative: "failed", exitUsage: "usage", exitInfra: "infrastructure", exitLimited: "limit",
	exitHungUp: "hung_up", exitInterrupted: "interrupted", exitTerminated: "terminated",
}

func failureOf(err error) failure {
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{exitUsage, err} // from the flag parser
	}
	f := failure{Exit: e.code, Code: failureCodes[e.code], Message: err.Error(), printed: e.err == nil}
	if p, ok := errors.AsType[*problem](err); ok {
		f.Hint = p.hint
		if p.code != "" {
			f.Code = p.code
		}
	}
	if f.printed {
		f.Message = "see stderr"
	}
	return f
}

// printFailure prints a failure as JSON.
func printFailure(w io.Writer, err error) {
	e := json.NewEncoder(machine(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(map[string]failure{"error": failureOf(err)}) // outlet keeps errors of writing
}

// wantsJSON says whether arguments ask for -o json. It reads them itself, since
// a failure may be one of reading the arguments.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	for i, arg := range args {
		name, value, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || name != "o" && name != "output" {
			continue
		}
		if !inline && i+1 < len(args) {
			value = args[i+1]
		}
		if value == "json" {
			return true
		}
	}
	return false
}
