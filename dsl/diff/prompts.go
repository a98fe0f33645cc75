package diff

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine/text"
)

// promptSections are the parts of a spec that contain prompts.
var promptSections = []string{"planner.", "executor.", "reflector.", "finalizer.", "graph.nodes.", "llms.", "memory.compaction"}

// isPrompt reports whether a path is that of a prompt.
func isPrompt(path string) bool {
	if !slices.ContainsFunc(promptSections, func(p string) bool { return strings.HasPrefix(path, p) }) || strings.Contains(path, ".options.") {
		return false
	}
	key := path[strings.LastIndexByte(path, '.')+1:]
	return strings.HasSuffix(key, "prompt") || strings.HasSuffix(key, "template") || key == "question"
}

// expandedPrompt is a prompt with its named prompts inserted.
type expandedPrompt struct {
	text  string
	names []string // of the named prompts, at any depth
}

// promptSource is a prompt as written: a text, or the name of one.
type promptSource struct {
	at   dsl.Value // the place of the text
	text string
	use  string
	// builtIn is set if it is not written: it is the default, or comes from the
	// section of the node's role.
	builtIn bool
	expandedPrompt
}

// effectivePrompt returns the prompt in effect at a path, whether or not it is written
// there.
func (s *side) effectivePrompt(path string, v dsl.Value) promptSource {
	w := s.prompt(v)
	if !v.Exists() {
		w.expandedPrompt.text, w.builtIn = s.byDefault(path)
	}
	return w
}

// prompt reads a prompt; that of a missing value is empty.
func (s *side) prompt(v dsl.Value) promptSource {
	w := promptSource{at: v, text: v.Text(), use: v.Get("use").Text()}
	if w.use == "" {
		w.expandedPrompt = s.expand(w.text, nil)
		return w
	}
	w.at = s.tree.Get("prompts", w.use)
	w.text = w.at.Text()
	w.expandedPrompt = s.namedPrompt(w.use, nil)
	w.names = append([]string{w.use}, w.names...)
	return w
}

// namedPrompt returns an expanded named prompt. chain holds the names on the way to it.
func (s *side) namedPrompt(name string, chain []string) expandedPrompt {
	if e, ok := s.texts[name]; ok || slices.Contains(chain, name) {
		return e
	}
	e := s.expand(s.tree.Get("prompts", name).Text(), append(slices.Clip(chain), name))
	s.texts[name] = e
	return e
}

// expand inserts named prompts. Other references stay as written.
func (s *side) expand(text string, chain []string) expandedPrompt {
	var out expandedPrompt
	var b strings.Builder
	done := 0
	nothing, _ := prompt.Parse("", prompt.Options{})
	prompt.Parse(text, prompt.Options{Namespaces: []string{}, Partial: func(name string, offset int) *prompt.Template {
		end := offset + strings.IndexAny(text[offset:], "}>") + 1
		if offset < done || end <= offset {
			return nothing
		}
		inner := s.namedPrompt(name, chain)
		b.WriteString(text[done:offset] + filtered(text[offset:end], inner.text))
		out.names = append(append(out.names, name), inner.names...)
		done = end
		return nothing
	}})
	out.text = b.String() + text[done:]
	return out
}

// filtered applies the filters of a reference to the text of a named prompt.
func filtered(reference, text string) string {
	_, filters, some := strings.Cut(reference[:len(reference)-1], "|")
	if !some {
		return text
	}
	t, _ := prompt.Parse("${v.x|"+filters+"}", prompt.Options{Namespaces: []string{"v"}})
	return t.Text(func(string, string) (any, bool) { return text, true })
}

// promptsOf returns the paths of the prompts of a spec, in order.
func (s *side) promptsOf() []string {
	var out []string
	for _, section := range append(slices.Clone(language.Roles), "llms", "memory") {
		out = collect(s.tree.Get(section), section, out)
	}
	for _, n := range byName(s.tree.Get("graph", "nodes")) {
		out = collect(n.Value, "graph.nodes."+n.Key, out)
	}
	return out
}

func collect(v dsl.Value, path string, out []string) []string {
	if isPrompt(path) {
		return append(out, path)
	}
	for _, e := range v.Entries() {
		out = collect(e.Value, path+"."+e.Key, out)
	}
	for i, it := range v.Items() {
		out = collect(it, path+"["+number(i)+"]", out)
	}
	return out
}

// at returns the value at a path of promptsOf.
func (s *side) at(path string) dsl.Value {
	if rest, ok := strings.CutPrefix(path, "graph.nodes."); ok {
		id, keys, _ := strings.Cut(rest, ".")
		return find(byName(s.tree.Get("graph", "nodes")), id).Value.Get(strings.Split(keys, ".")...)
	}
	v := s.tree
	for key := range strings.SplitSeq(path, ".") {
		name, index, listed := strings.Cut(key, "[")
		if v = v.Get(name); listed {
			v = item(v, strings.TrimSuffix(index, "]"))
		}
	}
	return v
}

func item(v dsl.Value, index string) dsl.Value {
	for i, it := range v.Items() {
		if number(i) == index {
			return it
		}
	}
	return dsl.Value{}
}

// prompts compares the texts sent to models, after inserting named prompts. A
// named prompt used by several of them is reported once.
func (c *comparison) prompts() {
	paths := c.now.promptsOf()
	paths = append(paths, without(c.old.promptsOf(), paths)...)
	reaches := map[string][]string{} // changed named prompts, and who uses them
	for _, path := range paths {
		if whole := c.wholeEntry(path); !whole {
			c.prompt(path, reaches)
		}
	}
	for _, name := range keysOf(c.old.tree.Get("prompts"), c.now.tree.Get("prompts")) {
		if len(reaches[name]) > 0 {
			c.shared(name, reaches[name])
		}
	}
}

// wholeEntry reports whether a prompt belongs to an added or removed LLM, which
// is reported as a whole.
func (c *comparison) wholeEntry(path string) bool {
	rest, ok := strings.CutPrefix(path, "llms.")
	name, _, _ := strings.Cut(rest, ".")
	both := c.old.tree.Get("llms", name).Exists() && c.now.tree.Get("llms", name).Exists()
	return ok && !both && !c.oneSided()
}

// prompt compares the prompts at a path.
func (c *comparison) prompt(path string, reaches map[string][]string) {
	v, w := c.old.at(path), c.now.at(path)
	a, b := c.old.effectivePrompt(path, v), c.now.effectivePrompt(path, w)
	switch {
	case (v.Exists() || a.builtIn) && (w.Exists() || b.builtIn) && a.expandedPrompt.text == b.expandedPrompt.text:
		return
	case v.Exists() && w.Exists() && a.use == b.use && (a.use != "" || a.text == b.text):
		for _, name := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(a.names), b.names...)))) {
			reaches[name] = append(reaches[name], path)
		}
		return
	}
	x := c.placed(path, v, w)
	x.Before, x.After = a.text, b.text
	if !slices.Equal(a.names, b.names) || a.builtIn || b.builtIn {
		x.Before, x.After = a.expandedPrompt.text, b.expandedPrompt.text
	}
	c.addPromptChange(&x, a, b)
}

// shared compares a named prompt.
func (c *comparison) shared(name string, reaches []string) {
	v, w := c.old.tree.Get("prompts", name), c.now.tree.Get("prompts", name)
	if v.Text() == w.Text() || c.old.namedPrompt(name, nil).text == c.now.namedPrompt(name, nil).text {
		return // a named prompt within it changed, which is reported separately
	}
	x := c.placed("prompts."+name, v, w)
	x.Before, x.After, x.Users = v.Text(), w.Text(), reaches
	c.addPromptChange(&x, promptSource{at: v, text: v.Text()}, promptSource{at: w, text: w.Text()})
}

// addPromptChange adds the change of a prompt, at the first difference.
func (c *comparison) addPromptChange(x *Change, a, b promptSource) {
	if w := b.at; w.Exists() {
		x.At = placeOf(w.Within(differs(a.text, b.text)))
		if a.at.Exists() == b.at.Exists() {
			x.OldAt = ""
		}
	}
	x.Old, x.New = lines(x.Before), lines(x.After)
	x.Before, x.After = sentences(x.Before), sentences(x.After)
	switch {
	case c.oneSided():
		x.Before, x.After = "", ""
	case x.Before != x.After && unixed(x.Before) == unixed(x.After):
		x.Before, x.After, x.Note = "", "", "only the line endings changed; the model now receives "+lineEnds(b.text)
	case a.builtIn:
		x.Old = "the default"
	case b.builtIn:
		x.New = "the default"
	}
	c.add(*x)
}

// differs returns the start of the line of the first difference, as an offset in
// the second text.
func differs(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(b) && n > 0 {
		n--
	}
	return strings.LastIndexByte(b[:n], '\n') + 1
}

// unixed returns a text with Unix line ends.
func unixed(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func lineEnds(text string) string {
	switch crlf := strings.Count(text, "\r\n"); crlf {
	case 0:
		return "LF"
	case strings.Count(text, "\n"):
		return "CRLF"
	}
	return "CRLF and LF"
}

func lines(s string) string {
	if s == "" {
		return ""
	}
	return text.Count(1+strings.Count(strings.TrimRight(s, "\n"), "\n"), "line")
}

// indented returns JSON with one value per line.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
