package chunk_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/providers/bleve/chunk"
)

// shown formats each passage as "start-end (heading) text", with | for line breaks.
func shown(text string, o chunk.Options) (out []string) {
	for _, p := range chunk.Split(text, o) {
		out = append(out, fmt.Sprintf("%d-%d (%s) %s", p.Start, p.End, p.Heading, strings.ReplaceAll(text[p.From:p.To], "\n", "|")))
	}
	return out
}

func TestSplit(t *testing.T) {
	md := func(size int) chunk.Options { return chunk.Options{Format: chunk.Markdown, Size: size} }
	tests := []struct {
		name, text string
		o          chunk.Options
		want       []string
	}{
		{"nothing", " \n\n", md(10), nil},
		{"fits", "one\ntwo\n\nthree\n", md(100), []string{"1-4 () one|two||three"}},
		{"between paragraphs", "one\ntwo\n\nthree\n", md(8), []string{"1-2 () one|two", "4-4 () three"}},
		{"between lines when a paragraph does not fit", "one\ntwo\nthree", md(7), []string{"1-2 () one|two", "3-3 () three"}},
		{"a line when it does not fit, between words", "aaaa bbbb cccc", md(6), []string{"1-1 () aaaa ", "1-1 () bbbb ", "1-1 () cccc"}},
		{"a word when there is no space", "aaaaaaaa", md(3), []string{"1-1 () aaa", "1-1 () aaa", "1-1 () aa"}},
		{"characters, not bytes", "ÄÖÜ\n\nßé", md(3), []string{"1-1 () ÄÖÜ", "3-3 () ßé"}},
		{"CRLF", "one\r\n\r\ntwo\r\n", md(4), []string{"1-1 () one", "3-3 () two"}},
		{
			"headings start passages and include their parents", "intro\n# A\ntext\n## B ##\nmore\n# C\nlast", md(100),
			[]string{"1-1 () intro", "2-3 (A) # A|text", "4-5 (A > B) ## B ##|more", "6-7 (C) # C|last"},
		},
		{"a heading without text goes with the next", "# A\n\n## B\ntext", md(100), []string{"1-4 (A > B) # A||## B|text"}},
		{"underlined headings", "A\n===\ntext\n\nB\n---\nmore", md(100), []string{"1-3 (A) A|===|text", "5-7 (A > B) B|---|more"}},
		{"a rule below a paragraph is not an underline", "a\nb\n---\nc", md(100), []string{"1-4 () a|b|---|c"}},
		{"hashes without a space are not headings", "#define X\n#hash", md(100), []string{"1-2 () #define X|#hash"}},
		{
			"fenced code is not cut and has no headings", "para\n\n```sh\n# x\n\ny\n```\nend", md(16),
			[]string{"1-1 () para", "3-7 () ```sh|# x||y|```", "8-8 () end"},
		},
		{"a fence is closed by the same fence", "~~~~\n~~~\n# x\n~~~~\n# H\nt", md(100), []string{"1-4 () ~~~~|~~~|# x|~~~~", "5-6 (H) # H|t"}},
		{"a fence that is open to the end", "```\n# x\n\n", md(100), []string{"1-2 () ```|# x"}},
		{"front matter has no headings", "---\ntitle: x\n---\n# A\nt", md(100), []string{"1-3 () ---|title: x|---", "4-5 (A) # A|t"}},
		{
			"overlap in whole lines", "aaaa\nbbbb\ncccc\ndddd",
			chunk.Options{Size: 9, Overlap: 5},
			[]string{"1-2 () aaaa|bbbb", "3-4 () cccc|dddd"},
		},
		{
			"overlap where there is room", "aaaa\nbbbb\ncccc\ndddd",
			chunk.Options{Size: 15, Overlap: 5},
			[]string{"1-3 () aaaa|bbbb|cccc", "3-4 () cccc|dddd"},
		},
		{"no overlap over a heading", "# A\naaa\n# B\nbbb", chunk.Options{Format: chunk.Markdown, Size: 30, Overlap: 20}, []string{"1-2 (A) # A|aaa", "3-4 (B) # B|bbb"}},
		{"by lines", "1\n2\n\n4\n5\n6", chunk.Options{Lines: 2, Overlap: 0}, []string{"1-2 () 1|2", "4-5 () 4|5", "6-6 () 6"}},
		{
			"reStructuredText", "Top\n===\n\ntext\n\nSub\n~~~\nmore",
			chunk.Options{Format: chunk.ReStructured, Size: 100},
			[]string{"1-4 (Top) Top|===||text", "6-8 (Top > Sub) Sub|~~~|more"},
		},
		{"ASCIIDoc", "= T\n\n== A\ntext\n----\n== x\n----", chunk.Options{Format: chunk.ASCIIDoc, Size: 100}, []string{"1-7 (T > A) = T||== A|text|----|== x|----"}},
		{"Org", "* A\ntext\n#+BEGIN_SRC sh\n* x\n#+END_SRC\n** B\nmore", chunk.Options{Format: chunk.Org, Size: 100}, []string{"1-5 (A) * A|text|#+BEGIN_SRC sh|* x|#+END_SRC", "6-7 (A > B) ** B|more"}},
		{"plain text has no headings", "# A\nb", chunk.Options{Size: 100}, []string{"1-2 () # A|b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, shown(tt.text, tt.o)); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\n\n```\ncode\n```\ntext\n\n---\n", 20, 0, 5, 1)
	f.Add("a b c\r\nTitle\n=====\n", 3, 0, 9, 2)
	f.Add("---\n\xff\n#+begin_x\n", 8, 2, 1, 4)
	f.Fuzz(func(t *testing.T, text string, size, lines, overlap, format int) {
		o := chunk.Options{Format: chunk.Format(uint(format) % 5), Size: 1 + int(uint(size)%100), Lines: int(uint(lines) % 5), Overlap: int(uint(overlap) % 60)}
		covered, all := make([]bool, len(text)+1), strings.Split(text, "\n")
		last := chunk.Passage{}
		for _, p := range chunk.Split(text, o) {
			if p.From >= p.To || p.Start > p.End || p.Start < last.Start || p.To <= last.To || p.End > len(all) {
				t.Fatalf("%+v after %+v", p, last)
			}
			if n := utf8.RuneCountInString(text[p.From:p.To]); o.Lines == 0 && n > o.Size {
				t.Fatalf("%+v has %d characters, the maximum is %d", p, n, o.Size)
			}
			if got := 1 + strings.Count(text[:p.From], "\n"); got != p.Start {
				t.Fatalf("%+v begins in line %d", p, got)
			}
			for i := p.From; i < p.To; i++ {
				covered[i] = true
			}
			last = p
		}
		for i, r := range text {
			if !covered[i] && strings.TrimSpace(string(r)) != "" {
				t.Fatalf("%q at %d is in no passage", r, i)
			}
		}
	})
}
