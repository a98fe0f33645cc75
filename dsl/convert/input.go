package convert

import (
	"path"
	"strings"
)

// Input is a file to convert.
type Input struct {
	Name string // of the file, as notes and errors show it
	Text []byte
	// Agent is set if the file is an agent that the first one calls as its
	// executor: the id in that call, or "*" if the file has the id or is the only
	// one.
	Agent string
	// As is the name of the new spec; "" for the name in the source.
	As string
	// Found is set if the file was found in a project folder, and so need not
	// belong to the project.
	Found bool
	// Open reads a file that this one refers to, by its path relative to the folder
	// of this one, or is nil if no
	// other file can be read.
	Open func(path string) ([]byte, error)
}

// MaxFile is the maximum size of a file in bytes.
const MaxFile = 4 << 20

// BaseName returns the name of the file without folder and extension, or fallback
// for standard input.
func (in *Input) BaseName(fallback string) string {
	base := path.Base(in.Name)
	if name := strings.TrimSuffix(base, path.Ext(base)); name != "" && name != "stdin" && name != "." && name != "/" {
		return name
	}
	return fallback
}
