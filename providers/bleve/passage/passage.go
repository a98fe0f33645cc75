package passage

import "unicode/utf8"

// Format says how a text marks its headings.
type Format int

// The formats.
const (
	Plain Format = iota
	Markdown
	ReStructured
	ASCIIDoc
	Org
)

// maxRunes is the most of a passage that is measured in lines: one line may be
// a whole file.
const maxRunes = 8000

// Options say how long passages are.
type Options struct {
	Format  Format
	Size    int // characters of a passage at most; does not count when Lines is set
	Lines   int // lines of a passage at most, 0 = Size counts
	Overlap int // characters of the end of a passage that the next one may begin with, in whole lines
}

// Passage is a part of a text.
type Passage struct {
	Start, End int    // its lines, the first is 1
	From, To   int    // its bytes
	Heading    string // the headings above it, outermost first: "Install > Linux"
}

// Split cuts a text. Passages come in order, hold no blank lines at their ends,
// and together hold every line that is not blank.
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

// atom is what is not cut further: some lines, or a piece of one.
type atom struct {
	first, last int // indexes of lines
	from, to    int // bytes
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
			first = s.extended(first, atoms[j-1], out[len(out)-1])
		}
		last := atoms[j-1]
		out = append(out, Passage{first.first + 1, last.last + 1, first.from, last.to, sec.heading})
		i = j
	}
	return out
}

// fits says whether a passage may go from one atom to another.
func (s *splitter) fits(from, to atom) bool {
	if s.options.Lines > 0 {
		return to.last-from.first < s.options.Lines && runes(s.text, from.from, to.to) <= maxRunes
	}
	return runes(s.text, from.from, to.to) <= s.options.Size
}

// extended lets a passage begin earlier, with lines that end the one before it.
func (s *splitter) extended(first, last atom, before Passage) atom {
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

// atoms cuts the blocks of a section that do not fit into a passage alone.
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

// pieces cuts a line that does not fit, between words where it has some.
func (s *splitter) pieces(i int) (out []atom) {
	most := s.options.Size
	if s.options.Lines > 0 {
		most = maxRunes
	}
	from, to := s.lines[i].from, s.lines[i].to
	for from < to {
		end := from
		space := 0
		for n := 0; n < most && end < to; n++ {
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
