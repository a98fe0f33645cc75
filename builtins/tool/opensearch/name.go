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

const maxName = 255 // bytes, OpenSearch's own limit

// plain refuses what is more than the name of one index, with * in it or not:
// lists, exclusions, date math, other clusters, endpoints, parts of a path.
func plain(name string) error {
	switch {
	case name == "":
		return errors.New("the name of the index is empty; pass one such as logs-2026")
	case len(name) > maxName || !utf8.ValidString(name):
		return errors.New("no index has a name that long or of such bytes")
	case strings.Contains(name, ","):
		return fmt.Errorf("%q is a list; name one index at a time", clip(name))
	case strings.Contains(name, ":"):
		return fmt.Errorf("%q lies in another cluster, which is not asked", clip(name))
	case name == "_all" || name[0] == '_' || name[0] == '-' || name[0] == '+':
		return fmt.Errorf("%q is no index: names begin with a letter or a digit", clip(name))
	case name == "." || name == "..":
		return fmt.Errorf("%q is no index", name)
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.*", r) {
			return fmt.Errorf("%q is no index: %q cannot be in a name", clip(name), r)
		}
	}
	return nil
}

// reach refuses names of indices that the author did not open.
func (c *Config) reach(name string) error {
	if err := plain(name); err != nil {
		return err
	}
	if c.opens(name) {
		return nil
	}
	switch {
	case len(c.Indices) > 0:
		return fmt.Errorf("index %q may not be used here; there are %s", clip(name), strings.Join(c.Indices, ", "))
	case name[0] == '*':
		return fmt.Errorf("%q would be every index; say how the name begins, such as logs-*", clip(name))
	}
	return fmt.Errorf("index %q belongs to the cluster itself and may not be used here", clip(name))
}

// opens says whether a name, or all that a name with * in it stands for, is
// open to the tool.
func (c *Config) opens(name string) bool {
	if len(c.Indices) == 0 {
		return name != "" && name[0] != '.' && name[0] != '*'
	}
	return slices.ContainsFunc(c.Indices, func(pattern string) bool { return covers(pattern, name) })
}

// covers says whether a pattern stands for a name. A * in the name is a sign
// like any other, which only a * of the pattern can take in: so whatever the
// name stands for, the pattern stands for it too. Names that begin with a dot
// are covered by patterns that do.
func covers(pattern, name string) bool {
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

// target is a name as a part of a path; a * at its start does not take in the
// cluster's own indices.
func target(name string) string {
	if strings.HasPrefix(name, "*") {
		return name + ",-.*"
	}
	return name
}

func clip(s string) string {
	return text.Clip(s, 200)
}
