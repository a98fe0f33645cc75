package opensearch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
)

const maxName = 255 // bytes, OpenSearch's limit

// checkName rejects everything other than the name of one index, with or without *:
// lists, exclusions, date math, remote clusters, endpoints, path segments.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of the index is empty; pass one such as logs-2026")
	case len(name) > maxName || !utf8.ValidString(name):
		return errors.New("the index name is too long or contains invalid bytes")
	case strings.Contains(name, ","):
		return fmt.Errorf("%q is a list; name one index at a time", clip(name))
	case strings.Contains(name, ":"):
		return fmt.Errorf("%q is in another cluster, which is not allowed", clip(name))
	case name == "_all" || name[0] == '_' || name[0] == '-' || name[0] == '+':
		return fmt.Errorf("%q is not a valid index name: names start with a letter or a digit", clip(name))
	case name == "." || name == "..":
		return fmt.Errorf("%q is not a valid index name", name)
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.*", r) {
			return fmt.Errorf("%q is not a valid index name: it contains %q", clip(name), r)
		}
	}
	return nil
}

// checkIndex rejects indices that the author does not allow.
func (c *Config) checkIndex(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if c.allows(name) {
		return nil
	}
	switch {
	case len(c.Indices) > 0:
		return fmt.Errorf("index %q is not allowed; allowed indices: %s", clip(name), strings.Join(c.Indices, ", "))
	case name[0] == '*':
		return fmt.Errorf("%q matches every index; pass a prefix, such as logs-*", clip(name))
	}
	return fmt.Errorf("index %q belongs to the cluster itself, so it is not allowed", clip(name))
}

// allows reports whether the author allows the index, or all indices that a name with *
// matches.
func (c *Config) allows(name string) bool {
	if len(c.Indices) == 0 {
		return name != "" && name[0] != '.' && name[0] != '*'
	}
	return slices.ContainsFunc(c.Indices, func(pattern string) bool { return matches(pattern, name) })
}

// matches reports whether pattern matches every index that name, which may contain *, can
// match. A * in name is compared like any other character, so only a * in the pattern
// matches it. Names that start with a dot are only covered by patterns that do.
func matches(pattern, name string) bool {
	if strings.HasPrefix(name, ".") != strings.HasPrefix(pattern, ".") {
		return false
	}
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name, rest = name[at+len(part):], after
	}
}

// target returns the name as a path segment. It excludes system indices if the name
// starts with *.
func target(name string) string {
	if strings.HasPrefix(name, "*") {
		return name + ",-.*"
	}
	return name
}

func clip(s string) string {
	return text.Clip(s, 200)
}
