package tool

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// AccessDescriber is a capability of a tool's Config: it says what calls of the tool
// start, and what they connect to, as the spec has it and with references as
// written, a line for each (see Runs and Connects); none = nothing. Files do not
// count. A tool whose Config does not say it may reach anything. Of an llm it is
// what is not seen of its provider and its base_url.
type AccessDescriber interface {
	Reaches() []string
}

// Execs is the line of a Reacher that starts a program: its arguments exactly, the
// folder ("" = the spec's) and the variables that are set for it.
func Execs(argv []string, dir string, env map[string]component.Template) string {
	words := []string{"runs", exactly(argv)}
	if dir != "" {
		words = append(words, "in", strconv.Quote(dir))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		words = append(words, "with", name+"="+strconv.Quote(env[name].Text))
	}
	return strings.Join(words, " ")
}

// StartsPrograms says whether a line of a Reacher begins as those of Runs do.
func StartsPrograms(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "runs ") })
}

// FileReader is a capability of a tool's Config: calls of the tool give models
// what files below one folder hold.
type FileReader interface {
	// ReadsFiles is the folder, relative to the spec's or absolute. given says that
	// the tool also reads files which the user gave the run (see Call.Files).
	ReadsFiles() (root string, given bool)
}

// Connects is the lines of a Reacher that asks a host at an address, and that
// may be led on to others.
func Connects(address component.Template, others []string) []string {
	out := []string{"connects to " + address.Text}
	if len(others) > 0 {
		out = append(out, "may be redirected to "+strings.Join(others, ", "))
	}
	return out
}

// exactly is arguments as a JSON list, so that where one ends is seen.
func exactly(argv []string) string {
	b, _ := jsonvalue.Marshal(argv) // texts can be written
	return string(b)
}
