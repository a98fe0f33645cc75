package textdiff

import "strings"

// Diff is what makes one text into another.
type Diff struct {
	Hunks          []Hunk
	Removed, Added int // lines
}

// Hunk is lines that changed with some around them, as in a unified diff.
type Hunk struct {
	OldLine, OldLines int // first line, from 1 (the one before, where there are none), and how many
	NewLine, NewLines int
	Lines             []Line
}

// Op says what happens to a line.
type Op byte

// The ops are the first characters of a unified diff's lines.
const (
	Same Op = ' '
	Cut  Op = '-'
	Put  Op = '+'
)

// Line is one line of a hunk.
type Line struct {
	Op    Op
	Text  string // without its line end
	Words []Span // what of a Cut or Put line its counterpart lacks; nil = all of it
	Bare  bool   // the last line of a text, without a line end
}

// Span is a part of a line, in bytes.
type Span struct{ From, To int }

// Changed is the lines that were cut and put in, wherever they stand: diffs of
// which it is the same are the same change.
func (d Diff) Changed() string {
	var b strings.Builder
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l.Op != Same {
				b.WriteString(string(l.Op) + l.Text + "\n")
			}
		}
	}
	return b.String()
}

// Around is how many lines are shown on each side of what changed.
const Around = 3

// Compare is the diff of two texts, with three lines around what changed and
// the changed words of changed lines.
func Compare(before, after string) Diff {
	if before == after {
		return Diff{}
	}
	d := &differ{a: lines(before), b: lines(after), left: cells}
	runs := append(common(d.a, d.b, &d.left), run{len(d.a), len(d.b), 0})
	d.slide(runs)
	d.diff(runs)
	return d.out
}

// line is a line of a text.
type line struct {
	text string
	bare bool
}

func lines(text string) []line {
	out := make([]line, 0, strings.Count(text, "\n")+1)
	for text != "" {
		head, rest, ended := strings.Cut(text, "\n")
		out = append(out, line{head, !ended})
		text = rest
	}
	return out
}

// differ makes hunks of what two texts have in common.
type differ struct {
	a, b []line
	left int // of the cells that comparing may still cost
	out  Diff
	hunk *Hunk
}

func (d *differ) diff(runs []run) {
	i, j := 0, 0
	for _, r := range runs {
		if i < r.a || j < r.b {
			d.change(i, r.a, j, r.b)
		}
		d.same(r)
		i, j = r.a+r.n, r.b+r.n
	}
}

// slide moves lines that were only cut, or only put in, up to where a paragraph
// begins, if they can as well stand there.
func (d *differ) slide(runs []run) {
	for i := range runs[1:] {
		before, after := &runs[i], &runs[i+1]
		cut, put := after.a-before.a-before.n, after.b-before.b-before.n
		if cut > 0 == (put > 0) {
			continue
		}
		for n := 0; n < before.n; n++ {
			if strings.TrimSpace(d.a[before.a+before.n-n-1].text) == "" {
				*before = run{before.a, before.b, before.n - n}
				*after = run{after.a - n, after.b - n, after.n + n}
				break
			}
			if d.a[after.a-n-1] != d.a[before.a+before.n-n-1] || d.b[after.b-n-1] != d.b[before.b+before.n-n-1] {
				break
			}
		}
	}
}

// change puts the lines a0 to a1 that are cut, and b0 to b1 that take their
// place, in a hunk.
func (d *differ) change(a0, a1, b0, b1 int) {
	if d.hunk == nil {
		n := min(Around, a0, b0)
		d.out.Hunks = append(d.out.Hunks, Hunk{OldLine: a0 - n, NewLine: b0 - n})
		d.hunk = &d.out.Hunks[len(d.out.Hunks)-1]
		d.add(Same, d.a[a0-n:a0])
	}
	from := len(d.hunk.Lines)
	d.add(Cut, d.a[a0:a1])
	d.add(Put, d.b[b0:b1])
	block := d.hunk.Lines[from:]
	markWords(block[:a1-a0], block[a1-a0:], &d.left)
	d.out.Removed += a1 - a0
	d.out.Added += b1 - b0
}

// same goes over lines that both texts have. They end a hunk, unless the next
// change is near.
func (d *differ) same(r run) {
	if d.hunk == nil {
		return
	}
	if r.n <= 2*Around && (r.a+r.n < len(d.a) || r.b+r.n < len(d.b)) {
		d.add(Same, d.a[r.a:r.a+r.n])
		return
	}
	d.add(Same, d.a[r.a:r.a+min(r.n, Around)])
	if d.hunk.OldLines > 0 {
		d.hunk.OldLine++
	}
	if d.hunk.NewLines > 0 {
		d.hunk.NewLine++
	}
	d.hunk = nil
}

func (d *differ) add(op Op, lines []line) {
	for _, l := range lines {
		d.hunk.Lines = append(d.hunk.Lines, Line{Op: op, Text: l.text, Bare: l.bare})
	}
	if op != Put {
		d.hunk.OldLines += len(lines)
	}
	if op != Cut {
		d.hunk.NewLines += len(lines)
	}
}
