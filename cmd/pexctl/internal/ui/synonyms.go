package ui

import (
	"github.com/urfave/cli/v2"
)

// commandSynonyms are the commands here by the names that similar programs have
// for them.
var commandSynonyms = map[string]string{
	"validate": "vet", "lint": "vet", "check": "vet",
	"ls": "runs ls", "ps": "runs ls", "history": "runs ls",
	"logs": "runs show", "log": "runs show", "show": "runs show",
	"exec": "run", "start": "run", "ask": "run",
	"runs list": "runs ls", "memory list": "memory ls", "eval list": "eval ls", "models list": "models ls", "tools list": "tools ls",
}

// flagSynonym is what a flag of similar programs is here, for commands that
// have the flag needs.
type flagSynonym struct{ needs, here string }

var flagSynonyms = map[string]flagSynonym{
	"json":   {"output", "-o json"},
	"format": {"output", "-o FORMAT"},
	"model":  {"set", "--set llms.NAME.model=MODEL"},
}

// flagMeant is what a flag that a command does not have was probably meant to
// be; "" = nothing is known.
func flagMeant(cmd *cli.Command, name string, known []string) string {
	if s, ok := flagSynonyms[name]; ok && FlagOf(cmd, s.needs) != nil {
		return s.here
	}
	if near := Nearest(name, append(known, "help")); near != "" {
		return "--" + near
	}
	return ""
}
