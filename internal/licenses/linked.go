package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Module is a module that a command links, with its license files.
type Module struct {
	Path, Version string
	Texts         map[string]string // by the file's path within the module
}

// licenseFile matches the files that must accompany copies.
var licenseFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([-.][a-z0-9.-]*)?$`)

// format prints a line for each package that belongs to another module.
const format = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}"

// Linked returns the modules that a command links on any of the platforms, sorted
// by path. No platform means the one of this machine.
func Linked(command string, platforms []string) ([]Module, error) {
	if len(platforms) == 0 {
		platforms = []string{""}
	}
	found := map[string]Module{}
	for _, platform := range platforms {
		if err := link(found, command, platform); err != nil {
			return nil, err
		}
	}
	modules := slices.SortedFunc(maps.Values(found), func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	for _, m := range modules {
		if note := withoutFile[m.line()]; note != "" && len(m.Texts) == 0 {
			m.Texts["no license file"] = note
		}
		if len(m.Texts) == 0 {
			return nil, fmt.Errorf("%s %s has no license file", m.Path, m.Version)
		}
	}
	return modules, nil
}

// withoutFile says why a version of a module is linked although it has no license file. Other versions
// are looked at again.
var withoutFile = map[string]string{
	"github.com/nexus-rpc/nexus-proto-annotations v0.1.0": `This module has no license file. It has one generated file, the descriptors of
protobuf options, and is required by go.temporal.io/api, whose license is MIT, as
is that of github.com/nexus-rpc/sdk-go by the same authors.
`,
}

// link adds the modules of one platform.
func link(found map[string]Module, command, platform string) error {
	list := exec.Command("go", "list", "-deps", "-f", format, command)
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	if system, arch, ok := strings.Cut(platform, "/"); ok {
		list.Env = append(list.Env, "GOOS="+system, "GOARCH="+arch)
	}
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(part) != 4 {
			return fmt.Errorf("go list: unexpected line %q", line)
		}
		m, ok := found[part[0]]
		if !ok {
			m = Module{Path: part[0], Version: part[1], Texts: map[string]string{}}
			found[m.Path] = m
		}
		if err := m.read(part[2], part[3]); err != nil {
			return err
		}
	}
	return nil
}

// read adds the license files of a package's folder and of those above it.
func (m Module) read(root, dir string) error {
	if root == "" {
		return errors.New(m.Path + " is not downloaded")
	}
	for {
		rel, err := filepath.Rel(root, dir)
		if err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("%s is outside of module %s", dir, m.Path)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !licenseFile.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			m.Texts[filepath.ToSlash(filepath.Join(rel, e.Name()))] = normal(string(text))
		}
		if rel == "." {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// normal normalizes line endings and trailing blanks.
func normal(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		b.WriteString(strings.TrimRight(line, " \t\r\n\f") + "\n")
	}
	return strings.Trim(b.String(), "\n") + "\n"
}
