package ui

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// commandAliases are names of other programs for commands at another depth. Names
// for the same depth are Aliases of the command.
var commandAliases = map[string]string{"ls": "runs ls", "ps": "runs ls", "history": "runs ls", "logs": "runs show", "log": "runs show"}

// expandAlias replaces a first word that is an alias.
func expandAlias(words []string) []string {
	if len(words) == 0 || commandAliases[words[0]] == "" {
		return words
	}
	return slices.Concat(strings.Fields(commandAliases[words[0]]), words[1:])
}

// missingCommands are commands that users expect, with the equivalent.
var missingCommands = map[string]string{
	"ui":      "there is no web UI yet; try pexctl runs show RUN, pexctl graph SPEC --run RUN -o svg or pexctl eval show ID --html FILE",
	"web":     "there is no web UI yet; try pexctl runs show RUN, pexctl graph SPEC --run RUN -o svg or pexctl eval show ID --html FILE",
	"watch":   "to follow a run, use pexctl runs show RUN --follow",
	"replay":  `to replay a recorded run, use pexctl run spec.yaml --replay all --from RUN`,
	"fork":    "use pexctl runs fork RUN",
	"cancel":  "use pexctl runs cancel RUN",
	"message": `use pexctl runs message RUN "TEXT"`,
	"stop":    "use pexctl runs cancel RUN",
	"show":    "use pexctl runs show RUN",
	"export":  "use pexctl runs export RUN",
	"create":  "use pexctl init DIR for a new agent, or pexctl new SAMPLE for a copy of a sample",
	"convert": "use pexctl import",
	"build":   "specs need no build step; pexctl vet checks one, pexctl run runs it",
	"compile": "specs need no build step; pexctl vet checks one, pexctl graph shows what it compiles to",
	"deploy":  "there is no deployment command; commit the spec and run it with pexctl run",
	"config":  "there is no configuration file; see the environment variables in pexctl --help",
	"cost":    "use pexctl vet SPEC --cost",
	"doctor":  "use pexctl models ping SPEC for models, pexctl store check for stored runs",
	"ping":    "use pexctl models ping SPEC",
}

// flagSynonym maps a flag of similar programs to the flag here, for commands that
// have the flag needs ("" for all).
type flagSynonym struct{ needs, flag string }

var flagSynonyms = map[string]flagSynonym{
	"json":        {"output", "use -o json"},
	"format":      {"output", "use -o FORMAT"},
	"no-color":    {"", "use --color never"},
	"nocolor":     {"", "use --color never"},
	"colour":      {"", "use --color WHEN"},
	"dry-run":     {"include", "to check a spec without running it, use pexctl vet SPEC --cost; to see a prompt, pexctl render SPEC"},
	"watch":       {"include", "to follow a run that another process executes, use pexctl runs show RUN --follow"},
	"var":         {"param", "use -p NAME=VALUE"},
	"vars":        {"params", "use --params FILE"},
	"input":       {"params", "use -p NAME=VALUE or --params FILE"},
	"session":     {"memory-id", "use --memory-id ID"},
	"session-id":  {"memory-id", "use --memory-id ID"},
	"thread":      {"memory-id", "use --memory-id ID"},
	"background":  {"detach", "use --detach"},
	"max-cost":    {"include", "use --set limits.max_cost=USD"},
	"max-tokens":  {"include", "use --set limits.max_tokens=N"},
	"max-steps":   {"include", "use --set limits.max_steps=N"},
	"temperature": {"set", "use --set llms.NAME.temperature=VALUE"},
	"provider":    {"model", "use --model PROVIDER/MODEL"},
	"filter":      {"run", "use --run REGEX"},
}

// flagHint returns the replacement for a flag that a command does not have, or
// "".
func flagHint(cmd *cli.Command, name string, known []string) string {
	if s, ok := flagSynonyms[name]; ok && (s.needs == "" || FlagOf(cmd, s.needs) != nil) {
		return s.flag
	}
	if near := Nearest(name, append(known, "help")); near != "" {
		return "did you mean --" + near + "?"
	}
	return ""
}
