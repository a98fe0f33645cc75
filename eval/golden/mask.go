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
// It replaces folders and applies the case's own rules in every artefact. In results (trajectory, output) it also
// hides UUIDs, ids of runs and memories, durations in JSON, and local ports; in prompts, parameters and tools these
// were written by the author and stay.
type Mask struct {
	rules   []rule
	paths   []pointer
	folders []FolderAlias // longest folder first
	names   map[string]bool
}

// rule is a redact pattern of a case.
type rule struct {
	name    string
	pattern *regexp.Regexp
	group   int // the group to hide
}

const longestName = 64

// NewMask returns a mask with a case's own rules and folders. The error names the invalid rule.
func NewMask(rules []testspec.Redact, places ...FolderAlias) (*Mask, error) {
	m := &Mask{names: map[string]bool{}}
	for _, r := range rules {
		if !isName(r.Name) || len(r.Name) > longestName {
			return nil, fmt.Errorf("redact: invalid name %q: use a letter, then letters, digits, _ and -, at most %d characters", r.Name, longestName)
		}
		m.names[r.Name] = true
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
			m.folders = append(m.folders, p)
			m.names[p.Name] = true
		}
	}
	slices.SortStableFunc(m.folders, func(a, b FolderAlias) int { return len(b.Dir) - len(a.Dir) })
	return m, nil
}

// isKnown reports whether name can be in a placeholder of this mask.
func (m *Mask) isKnown(name string) bool { return m.names[name] || volatileNames[name] }

// hit is a span of a text to hide.
type hit struct {
	from, to   int
	name       string // "" = an existing placeholder, which stays
	value      string // equal values have equal numbers
	quoted     bool   // replaces a JSON value, so the placeholder becomes a JSON string
	unnumbered bool   // the placeholder has no number
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
	n := numbers{byValue: map[string]int{}, last: map[string]int{}, reserved: map[string]bool{}}
	for _, a := range out {
		n.reserve(a.Text, m.placeholders(a.Text))
	}
	open := make([]bool, len(out)) // texts that may contain more hits
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

// maxRounds is how often a text is searched at most. Hiding one value can expose another to a different rule, so
// the search repeats until it finds nothing. This makes masking idempotent.
const maxRounds = 20

// find returns the hits in a text, in order. If hits overlap, the case's own rules win, in their order. Existing
// placeholders are never changed.
func (m *Mask) find(a Artifact, round int) []hit {
	found := m.placeholders(a.Text)
	if a.Name == "trajectory.json" && len(m.paths) > 0 && round == 0 { // masking exposes no new values at these paths
		found = merge(found, values(a.Text, m.paths))
	}
	for _, r := range m.rules {
		found = merge(found, r.find(a.Text))
	}
	found = merge(found, m.folderHits(a.Text))
	if isResult(a.Name) {
		found = merge(found, scan(a.Text))
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

// merge merges two ordered lists of hits without overlaps. If a hit of b overlaps one of a, it is dropped.
func merge(a, b []hit) []hit {
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

// placeholders finds existing placeholders, <name> or <name:1>.
func (m *Mask) placeholders(text string) []hit {
	var out []hit
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return out
		}
		from := at + i
		at = from + 1
		n := strings.IndexAny(text[at:min(at+longestPlaceholder, len(text))], "<>")
		if n < 0 || text[at+n] != '>' {
			continue
		}
		name, number, counted := strings.Cut(text[at:at+n], ":")
		if m.isKnown(name) && (!counted || isNumber(number)) {
			at += n + 1
			out = append(out, hit{from: from, to: at})
		}
	}
}

// longestPlaceholder is the maximum length of a placeholder in bytes.
const longestPlaceholder = 100

// isNumber reports whether s is a number as used in placeholders: positive, without leading zeros.
func isNumber(s string) bool {
	return s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// numbers assigns the numbers of placeholders within one case.
type numbers struct {
	byValue  map[string]int // number by name and value
	last     map[string]int // last number by name
	reserved map[string]bool
}

// reserve marks the placeholders in text as used, so that their numbers are not assigned again.
func (n *numbers) reserve(text string, hits []hit) {
	for _, h := range hits {
		n.reserved[text[h.from:h.to]] = true
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
		word := n.placeholder(h)
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

// placeholder returns the replacement for a hit.
func (n *numbers) placeholder(h hit) string {
	if h.unnumbered {
		return "<" + h.name + ">"
	}
	key := h.name + "\x00" + h.value
	if n.byValue[key] == 0 {
		for n.byValue[key] == 0 || n.reserved[numbered(h.name, n.byValue[key])] {
			n.last[h.name]++
			n.byValue[key] = n.last[h.name]
		}
	}
	return numbered(h.name, n.byValue[key])
}

func numbered(name string, n int) string { return "<" + name + ":" + strconv.Itoa(n) + ">" }
