package sandboxfs

import (
	"fmt"
	"math/bits"
	"path"
	"strings"
)

const (
	maxParts = 60 // parts of one pattern, since the state has one bit for each
	maxForms = 64 // patterns after expanding braces
)

// Glob is a pattern of paths: * ? [a-z] within a name, ** for any number of folders, {a,b} for alternatives. The zero
// Glob matches nothing.
type Glob struct{ forms [][]string }

// state is the set of parts that may match next, for each form of a glob.
type state []uint64

// ParseGlob parses a pattern.
func ParseGlob(pattern string) (Glob, error) {
	var g Glob
	forms, err := braces(pattern)
	if err != nil {
		return Glob{}, err
	}
	for _, form := range forms {
		var parts []string
		for part := range strings.SplitSeq(form, "/") {
			switch _, err := path.Match(part, ""); {
			case err != nil:
				return Glob{}, fmt.Errorf("pattern %q: %q has an open bracket; escape it with a backslash", pattern, part)
			case part == "..":
				return Glob{}, fmt.Errorf("pattern %q holds \"..\"; patterns look below the path only", pattern)
			case part == "" || part == ".":
			case part == "**" && len(parts) > 0 && parts[len(parts)-1] == "**":
			default:
				parts = append(parts, part)
			}
		}
		if len(parts) > maxParts {
			return Glob{}, fmt.Errorf("pattern %.40q... has %d parts; the maximum is %d", pattern, len(parts), maxParts)
		}
		g.forms = append(g.forms, parts)
	}
	return g, nil
}

// braces expands {a,b}. An unmatched brace is literal.
func braces(pattern string) ([]string, error) {
	done, open := []string(nil), []string{pattern}
	for len(open) > 0 {
		p := open[0]
		open = open[1:]
		from, to := innermost(p)
		if from < 0 {
			done = append(done, p)
		} else {
			for word := range strings.SplitSeq(p[from+1:to], ",") {
				open = append(open, p[:from]+word+p[to+1:])
			}
		}
		if len(done)+len(open) > maxForms {
			return nil, fmt.Errorf("the braces of pattern %.40q... stand for more than %d patterns", pattern, maxForms)
		}
	}
	return done, nil
}

// innermost finds a pair of braces without nested braces.
func innermost(p string) (from, to int) {
	if to = strings.IndexByte(p, '}'); to < 0 {
		return -1, -1
	}
	return strings.LastIndexByte(p[:to], '{'), to
}

// Match reports whether a slash-separated path matches.
func (g Glob) Match(name string) bool {
	s := g.start()
	for part := range strings.SplitSeq(name, "/") {
		s = g.step(s, part)
	}
	return g.final(s)
}

func (g Glob) start() state {
	s := make(state, len(g.forms))
	for i := range s {
		s[i] = closure(g.forms[i], 1)
	}
	return s
}

// step returns the state after one more name of a path.
func (g Glob) step(s state, name string) state {
	next := make(state, len(s))
	for i, form := range g.forms {
		for set := s[i]; set != 0; set &= set - 1 {
			at := bits.TrailingZeros64(set)
			if at == len(form) {
				continue
			}
			if form[at] == "**" {
				next[i] |= 1 << at
			} else if ok, _ := path.Match(form[at], name); ok {
				next[i] |= 1 << (at + 1)
			}
		}
		next[i] = closure(form, next[i])
	}
	return next
}

// closure adds the parts reached if ** matches no folder.
func closure(form []string, set uint64) uint64 {
	for at, part := range form {
		if part == "**" && set&(1<<at) != 0 {
			set |= 1 << (at + 1)
		}
	}
	return set
}

// final reports whether a path may end here.
func (g Glob) final(s state) bool {
	for i, form := range g.forms {
		if s[i]&(1<<len(form)) != 0 {
			return true
		}
	}
	return false
}

// alive reports whether a longer path may still match.
func (g Glob) alive(s state) bool {
	for i, form := range g.forms {
		if s[i]&^(1<<len(form)) != 0 {
			return true
		}
	}
	return false
}
