package textdiff

import "strings"

// Diff is the difference between two texts.
type Diff struct {
	Hunks          []Hunk
	Removed, Added int // lines
}

// Hunk is a group of changed lines with context, as in a unified diff.
type Hunk struct {
	OldLine, OldLines int // first line, 1-based (the line before if there are none), and count
	NewLine, NewLines int
	Lines             []Line
}

// Op is what happens to a line.
type Op byte

// The values of Op are the first characters of lines in a unified diff.
const (
	Equal  Op = ' '
	Delete Op = '-'
	Insert Op = '+'
)

// Line is one line of a hunk.
type Line struct {
	Op        Op
	Text      string // without the line ending
	Words     []Span // parts of a deleted or inserted line that its counterpart lacks; nil = the whole line
	NoNewline bool   // last line of a text, without a line ending
}

// Span is a range of bytes in a line.
type Span struct{ From, To int }

// Changed returns the deleted and inserted lines without their positions. Two diffs make the same change if it is
// equal.
func (d Diff) Changed() string {
	var b strings.Builder
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l.Op != Equal {
				b.WriteString(string(l.Op) + l.Text + "\n")
			}
		}
	}
	return b.String()
}

// ContextLines is the number of context lines on each side of a change.
const ContextLines = 3

// Compare returns the diff of two texts, with context lines and with the changed words of changed lines marked.
func Compare(before, after string) Diff {
	if before == after {
		return Diff{}
	}
	d := &differ{a: splitLines(before), b: splitLines(after), budget: maxCells}
	runs := append(common(d.a, d.b, &d.budget), run{len(d.a), len(d.b), 0})
	d.slide(runs)
	d.diff(runs)
	return d.out
}

// line is a line of a text.
type line struct {
	text      string
	noNewline bool
}

func splitLines(text string) []line {
	out := make([]line, 0, strings.Count(text, "\n")+1)
	for text != "" {
		head, rest, ended := strings.Cut(text, "\n")
		out = append(out, line{head, !ended})
		text = rest
	}
	return out
}

// differ builds hunks from the common lines of two texts.
type differ struct {
	a, b   []line
	budget int // comparisons left; see maxCells
	out    Diff
	hunk   *Hunk
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

// slide moves blocks of only deleted or only inserted lines up to the start of a paragraph, if the result is
// equivalent.
func (d *differ) slide(runs []run) {
	for i := range runs[1:] {
		before, after := &runs[i], &runs[i+1]
		deleted, inserted := after.a-before.a-before.n, after.b-before.b-before.n
		if deleted > 0 == (inserted > 0) {
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

// change adds a change to a hunk: the lines a0..a1-1 are deleted and b0..b1-1 inserted.
func (d *differ) change(a0, a1, b0, b1 int) {
	if d.hunk == nil {
		n := min(ContextLines, a0, b0)
		d.out.Hunks = append(d.out.Hunks, Hunk{OldLine: a0 - n, NewLine: b0 - n})
		d.hunk = &d.out.Hunks[len(d.out.Hunks)-1]
		d.add(Equal, d.a[a0-n:a0])
	}
	from := len(d.hunk.Lines)
	d.add(Delete, d.a[a0:a1])
	d.add(Insert, d.b[b0:b1])
	block := d.hunk.Lines[from:]
	markWords(block[:a1-a0], block[a1-a0:], &d.budget)
	d.out.Removed += a1 - a0
	d.out.Added += b1 - b0
}

// same adds unchanged lines. They end the hunk unless the next change is near.
func (d *differ) same(r run) {
	if d.hunk == nil {
		return
	}
	if r.n <= 2*ContextLines && (r.a+r.n < len(d.a) || r.b+r.n < len(d.b)) {
		d.add(Equal, d.a[r.a:r.a+r.n])
		return
	}
	d.add(Equal, d.a[r.a:r.a+min(r.n, ContextLines)])
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
		d.hunk.Lines = append(d.hunk.Lines, Line{Op: op, Text: l.text, NoNewline: l.noNewline})
	}
	if op != Insert {
		d.hunk.OldLines += len(lines)
	}
	if op != Delete {
		d.hunk.NewLines += len(lines)
	}
}
