package golden

import (
	"cmp"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/textdiff"
)

// piece is a line of a source: the texts in it that are no references, or the
// name of a tool.
type piece struct {
	source     *dsl.Source
	tool       string // "" = it is a line
	at         int    // where the line begins
	raw        string
	texts      []string
	refs       []string // the names between them
	head, tail bool     // it begins, and ends, with text
	key        string   // the last of the path
}

// shortest is a text that says by itself where it comes from.
const shortest = 4

// covers says how many bytes of a line a piece explains: of what changed, and
// of all of it; 0 = it is not the piece's line.
func (p *piece) covers(l textdiff.Line) (changed, all int) {
	switch {
	case p.source.File == "":
		return p.begins(l)
	case p.tool != "":
		return p.names(l)
	case len(p.texts) == 0: // a value, and nothing else
		return 0, 1
	case p.raw == l.Text && len(p.texts) == 1 && len(p.raw) >= shortest && !p.ofProvider(): // blanks at its end may be what changed
		return max(1, overlap(l, 0, len(l.Text))), len(l.Text)
	}
	shown := strings.TrimSpace(l.Text)
	at, longest := 0, 0
	for _, t := range p.texts {
		i := strings.Index(l.Text[at:], t)
		if i < 0 {
			return 0, 0
		}
		from, to := at+i, at+i+len(t)
		changed += overlap(l, from, to)
		all += len(t)
		longest = max(longest, len(strings.TrimSpace(t)))
		at = to
	}
	if !p.tells(l, shown, changed, all, longest) {
		return 0, 0
	}
	return changed, all
}

// names is covers for the name of a tool, which stands for all that is said of
// it: at the head of a line of a list, or in JSON.
func (p *piece) names(l textdiff.Line) (changed, all int) {
	shown := strings.TrimRight(strings.TrimSpace(l.Text), ",")
	for _, form := range []string{"- " + p.tool + ":", `"name": "` + p.tool + `"`} {
		if strings.HasPrefix(shown, form) {
			at := strings.Index(l.Text, form)
			return overlap(l, at, at+len(form)), len(form)
		}
	}
	if shown == `"`+p.tool+`"` {
		return overlap(l, 0, len(l.Text)), len(shown)
	}
	return 0, 0
}

// tells says that a piece whose texts stand in a line is where it comes from,
// and not a word that happens to be in it.
func (p *piece) tells(l textdiff.Line, shown string, changed, all, longest int) bool {
	value := strings.HasPrefix(p.source.Path, "parameters.") && (p.key == "default" || strings.Count(p.source.Path, ".") == 1)
	switch {
	case p.key == "type" && len(l.Words) == 0: // a new line of any schema
		return false
	case strings.Contains(l.Text, `"`+p.key+`"`):
		return true
	case p.ofProvider():
		return false
	case len(p.texts) > 1 || !p.head || !p.tail: // values stand between its texts
		first, last := p.texts[0], p.texts[len(p.texts)-1]
		return longest >= shortest && (!p.head || strings.HasPrefix(shown, first)) && (!p.tail || strings.HasSuffix(shown, strings.TrimRight(last, " \t\r")))
	case all == len(shown):
		return true
	}
	const most = 3 // one part of three of the line and of what changed, at least
	return longest >= shortest && most*changed >= overlap(l, 0, len(l.Text)) && (value || most*all >= len(shown))
}

// ofProvider says that a text is an option of a provider: no prompt has those.
func (p *piece) ofProvider() bool { return strings.Contains(p.source.Path, ".options.") }

// begins is covers for what is built in: only its beginning is known, on one
// line.
func (p *piece) begins(l textdiff.Line) (changed, all int) {
	text, shown := p.texts[0], text.OneLine(l.Text)
	if n := min(len(text), len(shown)); n >= leastBuiltIn && text[:n] == shown[:n] {
		return n, n
	}
	return 0, 0
}

// leastBuiltIn is how much of a built-in text tells it from others.
const leastBuiltIn = 16

// overlap is how much of a part of a line changed. A line that is looked at for
// where it stands, and one that lost words only, counts as a whole.
func overlap(l textdiff.Line, from, to int) int {
	if len(l.Words) == 0 {
		return to - from
	}
	n := 0
	for _, w := range l.Words {
		n += max(0, min(to, w.To)-max(from, w.From))
	}
	return n
}

// near is 1 for a text of the node itself; what is of no node is the tools.
func (p *piece) near(node string) int {
	if strings.HasPrefix(p.source.Path, cmp.Or(node, "tools")+".") {
		return 1
	}
	return 0
}

// piecesOf cuts sources into lines, and these at references.
func piecesOf(sources []dsl.Source) []piece {
	var out []piece
	for i := range sources {
		s := &sources[i]
		section, key, _ := strings.Cut(s.Path, ".")
		if section == "tools" && key == s.Text {
			out = append(out, piece{source: s, tool: s.Text})
			continue
		}
		at := 0
		for line := range strings.SplitSeq(s.Text, "\n") {
			if texts, refs := literals(line); len(texts) > 0 || len(refs) > 0 {
				out = append(out, pieceOf(s, at, line, texts, refs))
			}
			at += len(line) + 1
		}
	}
	return out
}

func pieceOf(s *dsl.Source, at int, line string, texts, refs []string) piece {
	p := piece{source: s, at: at, raw: strings.TrimSuffix(line, "\r"), texts: texts, refs: refs, key: s.Path[strings.LastIndexByte(s.Path, '.')+1:]}
	if shown := strings.TrimSpace(line); len(texts) > 0 {
		p.head, p.tail = strings.HasPrefix(shown, texts[0]), strings.HasSuffix(shown, texts[len(texts)-1])
	}
	return p
}

// literals is what of a line of a template is no reference, and what is: the
// names.
func literals(line string) (texts, refs []string) {
	rest := strings.TrimSpace(line)
	for rest != "" {
		i := strings.IndexByte(rest, '$')
		if i < 0 || i+1 == len(rest) {
			return append(texts, rest), refs
		}
		closer := map[byte]string{'{': "}", '<': ">"}[rest[i+1]]
		end := -1
		if closer != "" {
			end = strings.Index(rest[i:], closer)
		}
		if end < 0 { // no reference: $ is text
			return append(texts, rest), refs
		}
		if strings.TrimSpace(rest[:i]) != "" {
			texts = append(texts, rest[:i])
		}
		name, _, _ := strings.Cut(rest[i+2:i+end], ":-")
		name, _, _ = strings.Cut(name, "|")
		refs = append(refs, strings.TrimSpace(name))
		rest = rest[i+end+1:]
	}
	return texts, refs
}
