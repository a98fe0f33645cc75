package golden

import (
	"cmp"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/textdiff"
)

// piece is one line of a source, split into literal texts and references, or the name of a tool.
type piece struct {
	source              *dsl.Source
	tool                string // "" for a line
	offset              int    // offset of the line in the source
	raw                 string
	texts               []string
	refs                []string // names of the references between the texts
	textFirst, textLast bool     // the line starts or ends with literal text
	key                 string   // last element of the source's path
}

// shortest is the minimum length of a literal that identifies its source on its own.
const shortest = 4

// covers returns how many bytes of a line the piece explains: of the changed part, and of the whole line. all is 0
// if the line does not come from the piece.
func (p *piece) covers(l textdiff.Line) (changed, all int) {
	switch {
	case p.source.File == "":
		return p.coversBuiltIn(l)
	case p.tool != "":
		return p.coversTool(l)
	case len(p.texts) == 0: // only a reference
		return 0, 1
	case p.raw == l.Text && len(p.texts) == 1 && len(p.raw) >= shortest && !p.isProviderOption(): // the change may be in trailing blanks
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
	if !p.isOrigin(l, shown, changed, all, longest) {
		return 0, 0
	}
	return changed, all
}

// coversTool is covers for the name of a tool, at the start of a list item or in JSON. The name represents the
// whole description of the tool.
func (p *piece) coversTool(l textdiff.Line) (changed, all int) {
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

// isOrigin reports whether a line that contains the piece's texts comes from the piece, rather than containing a
// common word by chance.
func (p *piece) isOrigin(l textdiff.Line, shown string, changed, all, longest int) bool {
	value := strings.HasPrefix(p.source.Path, "parameters.") && (p.key == "default" || strings.Count(p.source.Path, ".") == 1)
	switch {
	case p.key == "type" && len(l.Words) == 0: // could be a line of any schema
		return false
	case strings.Contains(l.Text, `"`+p.key+`"`):
		return true
	case p.isProviderOption():
		return false
	case len(p.texts) > 1 || !p.textFirst || !p.textLast: // there are values between its texts
		first, last := p.texts[0], p.texts[len(p.texts)-1]
		return longest >= shortest && (!p.textFirst || strings.HasPrefix(shown, first)) && (!p.textLast || strings.HasSuffix(shown, strings.TrimRight(last, " \t\r")))
	case all == len(shown):
		return true
	}
	const most = 3 // at least a third of the line and of its changes
	return longest >= shortest && most*changed >= overlap(l, 0, len(l.Text)) && (value || most*all >= len(shown))
}

// isProviderOption reports whether the text is an option of a provider. These do not appear in prompts.
func (p *piece) isProviderOption() bool { return strings.Contains(p.source.Path, ".options.") }

// coversBuiltIn is covers for built-in texts, of which only the beginning, on one line, is known.
func (p *piece) coversBuiltIn(l textdiff.Line) (changed, all int) {
	text, shown := p.texts[0], text.OneLine(l.Text)
	if n := min(len(text), len(shown)); n >= leastBuiltIn && text[:n] == shown[:n] {
		return n, n
	}
	return 0, 0
}

// leastBuiltIn is the minimum number of matching bytes that identifies a built-in text.
const leastBuiltIn = 16

// overlap returns how many changed bytes of a line are in from..to. If the line has no marked words, all bytes
// count.
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

// near returns 1 if the text belongs to the node, or to the tools if node is "".
func (p *piece) near(node string) int {
	if strings.HasPrefix(p.source.Path, cmp.Or(node, "tools")+".") {
		return 1
	}
	return 0
}

// piecesOf splits sources into lines, and lines at references.
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
				out = append(out, newPiece(s, at, line, texts, refs))
			}
			at += len(line) + 1
		}
	}
	return out
}

func newPiece(s *dsl.Source, at int, line string, texts, refs []string) piece {
	p := piece{source: s, offset: at, raw: strings.TrimSuffix(line, "\r"), texts: texts, refs: refs, key: s.Path[strings.LastIndexByte(s.Path, '.')+1:]}
	if shown := strings.TrimSpace(line); len(texts) > 0 {
		p.textFirst, p.textLast = strings.HasPrefix(shown, texts[0]), strings.HasSuffix(shown, texts[len(texts)-1])
	}
	return p
}

// literals splits a line of a template into its literal texts and the names of its references.
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
		if end < 0 { // $ is literal text
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
