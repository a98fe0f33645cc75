package chunk

import "unicode/utf8"

// Format is how a text marks its headings.
type Format int

// The formats.
const (
	Plain Format = iota
	Markdown
	ReStructured
	ASCIIDoc
	Org
)

// maxRunes is the maximum length of a passage measured in lines, since one line may be a
// whole file.
const maxRunes = 8000

// Options set the length of passages.
type Options struct {
	Format  Format
	Size    int // maximum characters; ignored if Lines is set
	Lines   int // maximum lines; 0 = use Size
	Overlap int // characters repeated from the end of the passage before, in whole lines
}

// Passage is a part of a text.
type Passage struct {
	Start, End int    // line numbers, from 1
	From, To   int    // byte offsets
	Heading    string // headings above it, outermost first: "Install > Linux"
}

// Split splits a text. Passages are in order, neither start nor end with blank lines, and
// together contain every non-blank line.
func Split(text string, o Options) []Passage {
	s := splitter{text: text, options: o, lines: linesOf(text)}
	var out []Passage
	for _, sec := range s.sections() {
		out = append(out, s.pack(sec)...)
	}
	return out
}

type splitter struct {
	text    string
	options Options
	lines   []line
}

// atom is an indivisible part: some lines, or a piece of one.
type atom struct {
	first, last int // line indexes
	from, to    int // byte offsets
	cut         bool
}

// pack fills passages with the blocks of a section.
func (s *splitter) pack(sec section) (out []Passage) {
	atoms := s.atoms(sec)
	for i := 0; i < len(atoms); {
		first, j := atoms[i], i+1
		for j < len(atoms) && s.fits(first, atoms[j]) {
			j++
		}
		if len(out) > 0 && !first.cut {
			first = s.withOverlap(first, atoms[j-1], out[len(out)-1])
		}
		last := atoms[j-1]
		out = append(out, Passage{first.first + 1, last.last + 1, first.from, last.to, sec.heading})
		i = j
	}
	return out
}

// fits reports whether a passage may span from one atom to another.
func (s *splitter) fits(from, to atom) bool {
	if s.options.Lines > 0 {
		return to.last-from.first < s.options.Lines && runes(s.text, from.from, to.to) <= maxRunes
	}
	return runes(s.text, from.from, to.to) <= s.options.Size
}

// withOverlap extends the start of a passage with lines from the end of the one before.
func (s *splitter) withOverlap(first, last atom, before Passage) atom {
	own := s.lines[first.first].from
	for i := first.first - 1; i > before.Start-1; i-- {
		wider := atom{first: i, last: first.last, from: s.lines[i].from, to: first.to}
		if runes(s.text, wider.from, own) > s.options.Overlap || !s.fits(wider, last) {
			break
		}
		if !s.lines[i].blank {
			first = wider
		}
	}
	return first
}

// atoms splits the blocks of a section that do not fit into one passage.
func (s *splitter) atoms(sec section) (out []atom) {
	for _, b := range sec.blocks {
		whole := atom{first: b.first, last: b.last, from: s.lines[b.first].from, to: s.lines[b.last].to}
		if s.fits(whole, whole) {
			out = append(out, whole)
			continue
		}
		for i := b.first; i <= b.last; i++ {
			if !s.lines[i].blank {
				out = append(out, s.pieces(i)...)
			}
		}
	}
	return out
}

// pieces splits a line that does not fit, between words if possible.
func (s *splitter) pieces(i int) (out []atom) {
	limit := s.options.Size
	if s.options.Lines > 0 {
		limit = maxRunes
	}
	from, to := s.lines[i].from, s.lines[i].to
	for from < to {
		end := from
		space := 0
		for n := 0; n < limit && end < to; n++ {
			r, width := utf8.DecodeRuneInString(s.text[end:to])
			if end += width; r == ' ' {
				space = end
			}
		}
		if end < to && space > from+(end-from)/2 {
			end = space
		}
		out = append(out, atom{first: i, last: i, from: from, to: end})
		from = end
	}
	if len(out) > 1 {
		for k := range out {
			out[k].cut = true
		}
	}
	return out
}

func runes(text string, from, to int) int { return utf8.RuneCountInString(text[from:to]) }
