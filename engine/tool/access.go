package tool

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// AccessDescriber is a tool's Config that describes which programs its calls start and
// which hosts they connect to, with references as written, one line each (see Execs and
// Connects); none = nothing. Files are not included. A tool whose Config lacks it may
// access anything. For an LLM, only what its provider and base_url do not show is
// included.
type AccessDescriber interface {
	Access() []string
}

// Execs returns the AccessDescriber line of a tool that starts a program: its exact
// arguments, folder ("" = the spec's) and environment.
func Execs(argv []string, dir string, env map[string]component.Template) string {
	words := []string{"runs", argvJSON(argv)}
	if dir != "" {
		words = append(words, "in", strconv.Quote(dir))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		words = append(words, "with", name+"="+strconv.Quote(env[name].Text))
	}
	return strings.Join(words, " ")
}

// StartsPrograms reports whether any line comes from Execs.
func StartsPrograms(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "runs ") })
}

// FileReader is a tool's Config whose calls show models the content of files below a
// folder.
type FileReader interface {
	// ReadsFiles returns the folder, relative to the spec's or absolute. given reports
	// that the tool also reads the user's files (see Call.Files).
	ReadsFiles() (root string, given bool)
}

// FileWriter is a tool's Config whose calls write one text file each.
type FileWriter interface {
	// WrittenFile returns what a successful call with these arguments has written: the
	// path of the file as the model gave it, and its content. ok is false if the arguments
	// have neither.
	WrittenFile(args json.RawMessage) (path, content string, ok bool)
}

// Connects returns the AccessDescriber lines of a tool that connects to an address and
// may be redirected to others.
func Connects(address component.Template, others []string) []string {
	out := []string{"connects to " + address.Text}
	if len(others) > 0 {
		out = append(out, "may be redirected to "+strings.Join(others, ", "))
	}
	return out
}

// FilesBelow is what HostBound.NeedsHost returns for a tool that uses the files below a folder
// ("" = the spec's).
func FilesBelow(root string) string {
	if root == "" || root == "." {
		return "the files of the spec's folder"
	}
	return "the files below " + root
}

// argvJSON returns arguments as a JSON list, which shows their boundaries.
func argvJSON(argv []string) string {
	b, _ := jsonvalue.Marshal(argv) // strings always encode
	return string(b)
}
