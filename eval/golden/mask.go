package golden

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/testspec"
)

// FolderAlias is a folder of this machine and its replacement: texts show <root>/specs for
// /home/ana/shop/specs. Several folders may have the same name: a project and the copy a
// test runs in.
type FolderAlias struct {
	Dir  string // absolute
	Name string // "root"
}

// Mask hides what varies between runs: <id:1> replaces the first id of a case in all its
// artefacts, so equal values stay equal. It is safe for concurrent use; the zero Mask
// hides the default patterns.
//
// It hides places and the case's own rules in every artefact. In results (trajectory,
// output) it also hides UUIDs, ids of runs and memories, RFC 3339 times, durations in
// JSON, and local ports; in prompts, parameters and tools these were written by the
// author and stay.
type Mask struct {
	rules  []rule
	paths  []pointer
	places []FolderAlias // the longest folder first
	known  map[string]bool
}

// rule is a pattern that a case names.
type rule struct {
	name    string
	pattern *regexp.Regexp
	group   int // that is hidden
}

const longestName = 64

// NewMask returns a mask with a case's own rules and places. An error names the invalid
// rule.
func NewMask(rules []testspec.Redact, places ...FolderAlias) (*Mask, error) {
	m := &Mask{known: map[string]bool{}}
	for _, r := range rules {
		if !isName(r.Name) || len(r.Name) > longestName {
			return nil, fmt.Errorf("redact: %q cannot stand for what is hidden: names are letters, digits, _ and -, at most %d", r.Name, longestName)
		}
		m.known[r.Name] = true
		if r.Path != "" {
			p, err := parsePointer(r.Name, r.Path)
			if err != nil {
				return nil, err
			}
			m.paths = append(m.paths, p)
		}
		if r.Pattern == "" {
			continue
		}
		re, err := regexp.Compile(r.Pattern)
		if err != nil {
			return nil, fmt.Errorf("redact %s: %w", r.Name, err)
		}
		m.rules = append(m.rules, rule{r.Name, re, min(re.NumSubexp(), 1)})
	}
	for _, p := range places {
		if p.Dir = filepath.Clean(p.Dir); filepath.IsAbs(p.Dir) && filepath.Dir(p.Dir) != p.Dir {
			m.places = append(m.places, p)
			m.known[p.Name] = true
		}
	}
	slices.SortStableFunc(m.places, func(a, b FolderAlias) int { return len(b.Dir) - len(a.Dir) })
	return m, nil
}

// knows says that a word in angle brackets may be one of the mask's.
func (m *Mask) knows(name string) bool { return m.known[name] || volatile[name] }

// hit is a part of a text that is hidden.
type hit struct {
	from, to int
	name     string
	value    string // what is the same has the same number
	quoted   bool   // it stood for a JSON value and becomes a JSON string
	plain    bool   // it has no number
}

// Apply masks all artefacts of a case. They are returned in numbering order: prompts,
// parameters, tools, trajectory, output. An existing <id:1> is kept and its number is not
// reused.
func (m *Mask) Apply(all []Artifact) []Artifact {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b Artifact) int {
		x, _ := rank(a.Name)
		y, _ := rank(b.Name)
		return cmp.Or(x-y, strings.Compare(a.Name, b.Name))
	})
	n := numbers{of: map[string]int{}, last: map[string]int{}, taken: map[string]bool{}}
	for _, a := range out {
		n.reserve(a.Text, m.aliases(a.Text))
	}
	open := make([]bool, len(out)) // more may be found in it
	for i := range open {
		open[i] = true
	}
	for round := 0; round < maxRounds && slices.Contains(open, true); round++ {
		for i := range out {
			if !open[i] {
				continue
			}
			hits := m.find(out[i], round)
			open[i] = slices.ContainsFunc(hits, func(h hit) bool { return h.name != "" })
			out[i].Text = n.rewrite(out[i].Text, hits)
		}
	}
	return out
}

// maxRounds bounds how often a text is searched. What one rule hides may uncover
// what another finds, so it is searched until there is nothing more: masking
// what was masked changes nothing.
const maxRounds = 20

// find lists what is hidden in a text, in its order. Where finds overlap, the
// case's own rules win, in their order; what is an alias already is left alone.
func (m *Mask) find(a Artifact, round int) []hit {
	found := m.aliases(a.Text)
	if a.Name == "trajectory.json" && len(m.paths) > 0 && round == 0 { // what pointers name, nothing uncovers
		found = merged(found, values(a.Text, m.paths))
	}
	for _, r := range m.rules {
		found = merged(found, r.find(a.Text))
	}
	found = merged(found, m.inPlaces(a.Text))
	if isRun(a.Name) {
		found = merged(found, scan(a.Text))
	}
	return found
}

func (r rule) find(text string) []hit {
	var out []hit
	for _, at := range r.pattern.FindAllStringSubmatchIndex(text, -1) {
		if from, to := at[2*r.group], at[2*r.group+1]; from < to {
			out = append(out, hit{from: from, to: to, name: r.name, value: text[from:to]})
		}
	}
	return out
}

// merged is the finds of two lists, each in order and without overlap; of two
// that overlap the first list's stays.
func merged(a, b []hit) []hit {
	if len(b) == 0 {
		return a
	}
	out := make([]hit, 0, len(a)+len(b))
	for _, h := range b {
		for len(a) > 0 && a[0].to <= h.from {
			out, a = append(out, a[0]), a[1:]
		}
		if len(a) == 0 || h.to <= a[0].from {
			out = append(out, h)
		}
	}
	return append(out, a...)
}

// aliases finds what a mask hid before, <name> or <name:1>; it stands for itself.
func (m *Mask) aliases(text string) []hit {
	var out []hit
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return out
		}
		from := at + i
		at = from + 1
		n := strings.IndexAny(text[at:min(at+longestAlias, len(text))], "<>")
		if n < 0 || text[at+n] != '>' {
			continue
		}
		name, number, counted := strings.Cut(text[at:at+n], ":")
		if m.knows(name) && (!counted || isNumber(number)) {
			at += n + 1
			out = append(out, hit{from: from, to: at})
		}
	}
}

// longestAlias bounds how far the end of an alias is looked for.
const longestAlias = 100

// isNumber says that a text is a number as aliases have it.
func isNumber(s string) bool {
	return s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// numbers counts what is hidden in one case.
type numbers struct {
	of    map[string]int // by name and value
	last  map[string]int // by name
	taken map[string]bool
}

// reserve keeps a number from being given: it stands in a text already.
func (n *numbers) reserve(text string, kept []hit) {
	for _, h := range kept {
		n.taken[text[h.from:h.to]] = true
	}
}

func (n *numbers) rewrite(text string, hits []hit) string {
	var b strings.Builder
	at := 0
	for _, h := range hits {
		if h.name == "" {
			continue
		}
		b.WriteString(text[at:h.from])
		word := n.word(h)
		if h.quoted {
			word = strconv.Quote(word)
		}
		b.WriteString(word)
		at = h.to
	}
	if at == 0 {
		return text
	}
	b.WriteString(text[at:])
	return b.String()
}

// word is what is shown in place of a find.
func (n *numbers) word(h hit) string {
	if h.plain {
		return "<" + h.name + ">"
	}
	key := h.name + "\x00" + h.value
	if n.of[key] == 0 {
		for n.of[key] == 0 || n.taken[numbered(h.name, n.of[key])] {
			n.last[h.name]++
			n.of[key] = n.last[h.name]
		}
	}
	return numbered(h.name, n.of[key])
}

func numbered(name string, n int) string { return "<" + name + ":" + strconv.Itoa(n) + ">" }
