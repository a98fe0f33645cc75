package ui

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/pexctl/pex/internal/app/failure"
)

// report is the -o json output for a failed command.
type report struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Exit    int    `json:"exit"`
	printed bool   // already printed on stderr
}

// codes are the codes of errors without their own, by exit code.
var codes = map[int]string{
	ExitNegative: "failed", ExitUsage: "usage", ExitInfra: "infrastructure", ExitLimited: "limit",
	ExitHungUp: "hung_up", ExitInterrupted: "interrupted", ExitTerminated: "terminated",
}

func reportOf(err error) report {
	e := exitOf(err)
	f := report{Exit: e.Code, Code: codes[e.Code], Message: err.Error(), printed: e.Err == nil}
	if p, ok := errors.AsType[*failure.Detail](err); ok {
		f.Hint = p.Hint
		if p.Code != "" {
			f.Code = p.Code
		}
	}
	if f.printed {
		f.Message = "see stderr"
	}
	return f
}

// exitOf returns the outermost error of the chain that decides the exit code.
func exitOf(err error) *ExitError {
	k, ok := errors.AsType[*failure.Error](err)
	e, exits := errors.AsType[*ExitError](err)
	if ok && exits {
		_, within := errors.AsType[*ExitError](k.Err)
		exits = !within
	}
	if exits {
		return e
	}
	if ok && k.Kind == failure.Infrastructure {
		return &ExitError{ExitInfra, err}
	}
	return &ExitError{ExitUsage, err} // or from the flag parser
}

// PrintFailure prints a failure as JSON.
func PrintFailure(w io.Writer, err error) {
	e := json.NewEncoder(ForPrograms(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(map[string]report{"error": reportOf(err)}) // the Output records write errors
}

// ArgsWantJSON reports whether arguments contain -o json. It parses them itself,
// because parsing may be what failed.
func ArgsWantJSON(args []string) bool {
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
