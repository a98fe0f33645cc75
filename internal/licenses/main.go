package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// command is the program whose licenses are listed.
const command = "github.com/pexctl/pex/cmd/pexctl"

// platforms lists platforms whose binaries may link different modules.
var platforms = []string{"linux/amd64", "darwin/arm64", "windows/amd64"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run() error {
	modules, err := Linked(command, platforms)
	if err != nil {
		return err
	}
	embedded, err := Embedded(".")
	if err != nil {
		return err
	}
	modules = append(modules, embedded...)
	w := bufio.NewWriter(os.Stdout)
	if err := Write(w, modules); err != nil {
		return err
	}
	return w.Flush()
}

const header = `Third-party licenses of pexctl

The binary of pexctl contains the modules below and Go's standard library, whose
license is that of golang.org/x/sys. Written by "make licenses"; do not edit.
`

// rule separates the sections.
var rule = strings.Repeat("=", 80) + "\n"

// Write writes the list of modules, and each distinct text once.
func Write(w io.Writer, modules []Module) error {
	var b strings.Builder
	b.WriteString(header + "\n")
	owners := map[string][]string{} // by text
	var texts []string
	for _, m := range modules {
		fmt.Fprintf(&b, "%s\n", m.line())
		for _, file := range slices.Sorted(maps.Keys(m.Texts)) {
			text := m.Texts[file]
			if owners[text] == nil {
				texts = append(texts, text)
			}
			owners[text] = append(owners[text], m.Path+": "+file)
		}
	}
	for _, text := range texts {
		b.WriteString("\n" + rule)
		b.WriteString(strings.Join(owners[text], "\n") + "\n")
		b.WriteString(rule + "\n" + text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line returns the module's line in the list at the top.
func (m Module) line() string { return m.Path + " " + m.Version }
