package textdiff_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/eval/textdiff"
)

// marked formats a diff with its changed words in brackets.
func marked(d textdiff.Diff) string {
	var b strings.Builder
	for _, h := range d.Hunks {
		fmt.Fprintf(&b, "@ %d,%d %d,%d\n", h.OldLine, h.OldLines, h.NewLine, h.NewLines)
		for _, l := range h.Lines {
			b.WriteByte(byte(l.Op))
			at := 0
			for _, w := range l.Words {
				b.WriteString(l.Text[at:w.From] + "[" + l.Text[w.From:w.To] + "]")
				at = w.To
			}
			b.WriteString(l.Text[at:])
			if l.Words != nil && len(l.Words) == 0 {
				b.WriteString("[]")
			}
			if l.NoNewline {
				b.WriteString("|")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestDiffMarksChangedWords(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", "a\n", "a\n", ""},
		{"a word", "You plan the work.\n", "You plan all work.\n", "@ 1,1 1,1\n-You plan [the] work.\n+You plan [all] work.\n"},
		{"a word more", "Be brief.\n", "Be very brief.\n", "@ 1,1 1,1\n-Be brief.[]\n+Be [very ]brief.\n"},
		{"blanks between changed words belong to them", "use one two three only here\n", "use four five six only here\n", "@ 1,1 1,1\n-use [one two three] only here\n+use [four five six] only here\n"},
		{"a line that is all new has no words", "keep this line of text\n", "keep that line of text\nand another\n", "@ 1,1 1,2\n-keep [this] line of text\n+keep [that] line of text\n+and another\n"},
		{"little in common", "apples and pears\n", "the quick brown fox and others jump\n", "@ 1,1 1,1\n-apples and pears\n+the quick brown fox and others jump\n"},
		{"rewrapped", "one two three\nfour five six\n", "one two\nthree four five six\n", "@ 1,2 1,2\n-one two three[]\n-four five six[]\n+one two[]\n+three four five six[]\n"},
		{"indented", "  - search\n", "    - search\n", "@ 1,1 1,1\n-[  ]- search\n+[    ]- search\n"},
		{"an accent belongs to its letter", "cafe\u0301 latte\n", "cafe latte\n", "@ 1,1 1,1\n-[cafe\u0301] latte\n+[cafe] latte\n"},
		{"a family is one character", "a 👨‍👩‍👧 here\n", "a 👨‍👩‍👦 here\n", "@ 1,1 1,1\n-a [👨‍👩‍👧] here\n+a [👨‍👩‍👦] here\n"},
		{"no blanks between words", "東京都に住む\n", "京都府に住む\n", "@ 1,1 1,1\n-[東]京都に住む\n+京都[府]に住む\n"},
		{"not UTF-8", "a \xff b\n", "a \xfe b\n", "@ 1,1 1,1\n-a [\xff] b\n+a [\xfe] b\n"},
		{"newline at the end", "a\nb", "a\nb\n", "@ 1,2 1,2\n a\n-b[]|\n+b[]\n"},
		{"from nothing", "", "a\nb\n", "@ 0,0 1,2\n+a\n+b\n"},
		{"to nothing", "a\n", "", "@ 1,1 0,0\n-a\n"},
		{"an empty line", "a\n\nb\n", "a\nb\n", "@ 1,3 1,2\n a\n-\n b\n"},
		{"near changes share a hunk", "1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n", "@ 1,8 1,8\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n"},
		{"far ones do not", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n", "@ 1,4 1,4\n-1\n+x\n 2\n 3\n 4\n@ 6,4 6,4\n 6\n 7\n 8\n-9\n+y\n"},
		{"put between", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nnew\n5\n6\n7\n8\n", "@ 2,6 2,7\n 2\n 3\n 4\n+new\n 5\n 6\n 7\n"},
		{"lines that stand once hold the others", "{\n a\n}\n\n{\n b\n}\n", "{\n a\n}\n\n{\n c\n}\n\n{\n b\n}\n", "@ 2,6 2,10\n  a\n }\n \n+{\n+ c\n+}\n+\n {\n  b\n }\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := marked(textdiff.Compare(c.before, c.after))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s\n%s", got, d)
			}
		})
	}
}

func TestDiffPrintsAsUnifiedText(t *testing.T) {
	d := textdiff.Compare("a\nb old c\nd", "a\nb new c\nd\n")
	want := "@@ -1,3 +1,3 @@\n a\n-b old c\n-d\n\\ No newline at end of file\n+b new c\n+d\n"
	if diff := cmp.Diff(want, d.Unified(0)); diff != "" {
		t.Error(diff)
	}
	if got := textdiff.Compare("x", "x").Unified(0); got != "" {
		t.Errorf("nothing changed: %q", got)
	}
	inked := textdiff.Compare("say one thing \x1b[2J\n", "say two thing \x1b[2J\n").Color(0, func(s string) string { return strings.ReplaceAll(s, "\x1b", "␛") })
	want = "\x1b[2m@@ -1 +1 @@\x1b[0m\n" +
		"\x1b[31m-say \x1b[7mone\x1b[27m thing ␛[2J\x1b[0m\n" +
		"\x1b[32m+say \x1b[7mtwo\x1b[27m thing ␛[2J\x1b[0m\n"
	if diff := cmp.Diff(want, inked); diff != "" {
		t.Error(diff)
	}
}

func TestLimitedDiffSaysHowMuchIsMissing(t *testing.T) {
	d := textdiff.Compare("", strings.Repeat("line\n", 100))
	got := strings.Split(strings.TrimSuffix(d.Unified(10), "\n"), "\n")
	if len(got) != 11 || got[10] != "... and 91 more lines; pexctl test --review shows all" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
	if all := d.Unified(0); strings.Count(all, "\n") != 101 {
		t.Errorf("without a limit: %d lines", strings.Count(all, "\n"))
	}
	if all := d.Unified(101); strings.Contains(all, "more lines") {
		t.Error("all lines fit, but the text says that some are missing")
	}
}

func TestLongLineShowsItsChanges(t *testing.T) {
	filler := strings.Repeat("wörd ", 2000)
	d := textdiff.Compare(filler+"old "+filler+"\n"+filler+"\n", filler+"new "+filler+"\n"+filler+"\n")
	got := d.Unified(20)
	if len(got) > 1500 || !strings.Contains(got, "old wörd") || !strings.Contains(got, "new wörd") || !strings.Contains(got, "…") || strings.Contains(got, "\ufffd") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	if strings.ToValidUTF8(got, "") != got {
		t.Error("a character was split")
	}
	if all := d.Unified(0); len(all) < 2*len(filler) {
		t.Error("without a limit the line is incomplete")
	}
}

func TestMarkdownFenceIsLongerThanText(t *testing.T) {
	got := textdiff.Compare("a\n```\nb\n````\n", "a\n```\nc\n````\n").Markdown(0)
	if !strings.HasPrefix(got, "`````diff\n") || !strings.HasSuffix(got, "\n`````\n") {
		t.Error(got)
	}
	if textdiff.Compare("", "").Markdown(0) != "" {
		t.Error("an empty diff is not empty Markdown")
	}
}

// apply applies a diff to a text.
func apply(t *testing.T, before string, d textdiff.Diff) string {
	t.Helper()
	old := strings.SplitAfter(before, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	var out strings.Builder
	at, line := 0, 0 // lines read of the old text, and written
	for _, h := range d.Hunks {
		from := h.OldLine
		if h.OldLines > 0 {
			from--
		}
		for ; at < from; at, line = at+1, line+1 {
			out.WriteString(old[at])
		}
		wantLine := h.NewLine
		if h.NewLines > 0 {
			wantLine--
		}
		if line != wantLine {
			t.Fatalf("hunk at new line %d after %d lines", h.NewLine, line)
		}
		cut, put := 0, 0
		for _, l := range h.Lines {
			text := l.Text
			if !l.NoNewline {
				text += "\n"
			}
			if l.Op != textdiff.Insert {
				if old[at] != text {
					t.Fatalf("line %d is %q, the diff has %q", at+1, old[at], text)
				}
				at, cut = at+1, cut+1
			}
			if l.Op != textdiff.Delete {
				out.WriteString(text)
				line, put = line+1, put+1
			}
			spans(t, l)
		}
		if cut != h.OldLines || put != h.NewLines {
			t.Fatalf("hunk declares %d and %d lines, but has %d and %d", h.OldLines, h.NewLines, cut, put)
		}
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return out.String()
}

func spans(t *testing.T, l textdiff.Line) {
	t.Helper()
	at := 0
	for _, w := range l.Words {
		if w.From < at || w.To <= w.From || w.To > len(l.Text) {
			t.Fatalf("span %v of %q", w, l.Text)
		}
		at = w.To
	}
	if l.Op == textdiff.Equal && l.Words != nil {
		t.Fatalf("an unchanged line has changed words: %q", l.Text)
	}
}

func FuzzDiff(f *testing.F) {
	for _, s := range [][2]string{{"", ""}, {"a\nb\n", "b\na\n"}, {"a b c", "a x c\n"}, {"e\u0301 x\r\n", "e x\n"}, {"a\x00\xff\n\n", "\xffa"}, {"1\n2\n3\n4\n5\n6\n7\n8\n", "0\n2\n3\n4\n5\n6\n7\n9\n"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		d := textdiff.Compare(before, after)
		if got := apply(t, before, d); got != after {
			t.Fatalf("%q patched is %q, not %q", before, got, after)
		}
		if (before == after) != (len(d.Hunks) == 0) {
			t.Fatalf("%d hunks", len(d.Hunks))
		}
		_ = d.Unified(5)
		_ = d.Color(5, strings.ToUpper)
	})
}

// TestDiffOfManyTexts covers what the fuzzer's seeds do not: many repeated lines.
func TestDiffOfManyTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		before, after := lineNoise(r), lineNoise(r)
		if r.IntN(2) == 0 {
			after = strings.Replace(before, "b", "x\ny", 1+r.IntN(5))
		}
		if got := apply(t, before, textdiff.Compare(before, after)); got != after {
			t.Fatalf("%q patched is %q, not %q", before, got, after)
		}
	}
}

func lineNoise(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(30) {
		b.WriteString([]string{"a", "b", "c d", "", "unique " + fmt.Sprint(r.IntN(50))}[r.IntN(5)] + "\n")
	}
	return b.String()
}

// TestDiffOfWorstCaseEnds covers the most expensive inputs: nothing in common, nothing unique, everything on
// one line.
func TestDiffOfWorstCaseEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	for _, c := range []struct{ name, before, after string }{
		{"lines", strings.Repeat("a\nb\n", 50_000), strings.Repeat("b\nc\na\n", 40_000)},
		{"one line", strings.Repeat("a b ", 100_000), strings.Repeat("b c a ", 80_000)},
		{"all new", numbers("x", 50_000), numbers("y", 50_000)},
		{"backwards", numbers("x", 20_000), backwards(numbers("x", 20_000))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := apply(t, c.before, textdiff.Compare(c.before, c.after)); got != c.after {
				t.Error("the patched text differs")
			}
		})
	}
}

func numbers(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", prefix, i)
	}
	return b.String()
}

func backwards(s string) string {
	lines := strings.SplitAfter(s, "\n")
	var b strings.Builder
	for _, line := range slices.Backward(lines) {
		b.WriteString(line)
	}
	return b.String()
}

func TestChangedIgnoresPosition(t *testing.T) {
	one := textdiff.Compare("a\nb\nc\n", "a\nB\nc\n").Changed()
	for _, c := range []struct {
		before, after string
		same          bool
	}{
		{"x\ny\nz\nb\n", "x\ny\nz\nB\n", true},
		{"b\n", "C\n", false},
		{"b\nd\n", "B\n", false},
		{"B\n", "b\n", false},
	} {
		if got := textdiff.Compare(c.before, c.after).Changed(); (got == one) != c.same {
			t.Errorf("%q to %q is %q, and the first %q", c.before, c.after, got, one)
		}
	}
}

// BenchmarkDiffOfAPrompt measures a prompt of 60 lines in which one changed.
func BenchmarkDiffOfAPrompt(b *testing.B) {
	before := numbers("This is a line of a prompt, with its number:", 60)
	after := strings.Replace(before, "prompt, with its number: 30", "prompt, without number", 1)
	b.ReportAllocs()
	for b.Loop() {
		textdiff.Compare(before, after)
	}
}
