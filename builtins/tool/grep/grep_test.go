package grep_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/tool/grep"
)

func scan(t *testing.T, q grep.Query, r io.Reader, most int) (lines []string, matches int) {
	t.Helper()
	m, err := grep.Compile(q)
	if err != nil {
		t.Fatal(err)
	}
	matches, err = m.Scan(t.Context(), r, most, func(l grep.Line) {
		if l.Gap {
			lines = append(lines, "--")
		}
		mark := "-"
		if l.Match {
			mark = ":"
		}
		lines = append(lines, fmt.Sprintf("%d%s%s", l.Number, mark, l.Text))
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, matches
}

func TestMatchingLines(t *testing.T) {
	const text = "one\ntwo Error\nthree\nfour error\nfive\n\nseven error"
	tests := []struct {
		name string
		q    grep.Query
		text string
		want []string
	}{
		{"plain text", grep.Query{Text: "error"}, text, []string{"4:four error", "7:seven error"}},
		{"ignoring case", grep.Query{Text: "ERROR", IgnoreCase: true}, text, []string{"2:two Error", "4:four error", "7:seven error"}},
		{"ignoring case outside ASCII", grep.Query{Text: "ÄRGER", IgnoreCase: true}, "kein\nÄrger", []string{"2:Ärger"}},
		{"plain text is no expression", grep.Query{Text: "a.c"}, "abc\na.c\n", []string{"2:a.c"}},
		{"expression", grep.Query{Text: "^f.*r$", Regexp: true}, text, []string{"4:four error"}},
		{"expression ignoring case", grep.Query{Text: "O ERR", Regexp: true, IgnoreCase: true}, text, []string{"2:two Error"}},
		{"start of text is start of line", grep.Query{Text: `\Athree\z`, Regexp: true}, text, []string{"3:three"}},
		{"empty line", grep.Query{Text: "^$", Regexp: true}, text, []string{"6:"}},
		{"class that holds the line break", grep.Query{Text: `one[^x]two`, Regexp: true}, text, nil},
		{"CRLF is no part of a line", grep.Query{Text: "b$", Regexp: true}, "a\r\nb\r\n", []string{"2:b"}},
		{"context", grep.Query{Text: "four", Context: 1}, text, []string{"3-three", "4:four error", "5-five"}},
		{"context that overlaps", grep.Query{Text: "error", Context: 2}, text, []string{"2-two Error", "3-three", "4:four error", "5-five", "6-", "7:seven error"}},
		{"context at the edges", grep.Query{Text: "one", Context: 5}, "one\ntwo", []string{"1:one", "2-two"}},
		{"gap between contexts", grep.Query{Text: "x", Context: 1}, "x\na\nb\nc\nx\n", []string{"1:x", "2-a", "--", "4-c", "5:x"}},
		{"invalid UTF-8 is replaced", grep.Query{Text: "ab"}, "ab\xff", []string{"1:ab\uFFFD"}},
		{"nothing", grep.Query{Text: "x"}, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := scan(t, tt.q, strings.NewReader(tt.text), 100)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMatchesOverTheLimitAreCounted(t *testing.T) {
	got, n := scan(t, grep.Query{Text: "x", Context: 1}, strings.NewReader("x1\na\nb\nx2\nc\nx3\nd\n"), 1)
	if diff := cmp.Diff([]string{"1:x1", "2-a"}, got); diff != "" || n != 3 {
		t.Errorf("%d matches, want 3\n%s", n, diff)
	}
}

func TestLongLinesAreFoundOnceAndTruncated(t *testing.T) {
	const block = 256 << 10
	for name, at := range map[string]int{
		"at the start": 0, "in the first block": 1000, "across the cut": block - 3, "far behind": 5*block + 17,
	} {
		t.Run(name, func(t *testing.T) {
			line := strings.Repeat("a", at) + "needle" + strings.Repeat("b", 6*block-at)
			for _, q := range []grep.Query{{Text: "needle"}, {Text: "NEEDLE", IgnoreCase: true}, {Text: "ne+dle", Regexp: true}} {
				got, n := scan(t, q, strings.NewReader("first\n"+line+"\nlast needle\n"), 10)
				if n != 2 || len(got) != 2 {
					t.Fatalf("%+v: %d matches, %d lines, want 2", q, n, len(got))
				}
				if !strings.HasPrefix(got[0], "2:") || !strings.Contains(got[0], "needle") || len(got[0]) > 500 || got[1] != "3:last needle" {
					t.Errorf("%+v: %.600q", q, got)
				}
			}
		})
	}
}

// TestBlocksFindWhatLinesFind compares the results with a simple search line by line.
func TestBlocksFindWhatLinesFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range 20_000 {
		for range rng.IntN(40) {
			b.WriteByte("abcXY "[rng.IntN(6)])
		}
		b.WriteString([]string{"\n", "\r\n"}[rng.IntN(2)])
	}
	text := b.String()
	for _, q := range []grep.Query{
		{Text: "abcXY"},
		{Text: "ABCxy", IgnoreCase: true},
		{Text: "a+b+c", Regexp: true},
		{Text: "^(XY|c)+$", Regexp: true},
		{Text: `\bcab\b`, Regexp: true, IgnoreCase: true},
		{Text: `\Aabc`, Regexp: true},
		{Text: "zzz"},
		{Text: "abcXYab", Context: 2},
	} {
		src := q.Text
		if !q.Regexp {
			src = regexp.QuoteMeta(src)
		}
		if q.IgnoreCase {
			src = "(?i)" + src
		}
		re, want, number := regexp.MustCompile(src), []string(nil), 0
		for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
			if number++; re.MatchString(s.Text()) {
				want = append(want, fmt.Sprintf("%d:%s", number, s.Text()))
			}
		}
		lines, n := scan(t, q, strings.NewReader(text), 1<<30)
		var got []string
		for _, l := range lines {
			if d := strings.IndexAny(l, ":-"); l[d] == ':' {
				got = append(got, l)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || n != len(want) {
			t.Errorf("%+v: %d matches, want %d\n%.500s", q, n, len(want), diff)
		}
	}
}

func TestInvalidQueries(t *testing.T) {
	for want, q := range map[string]grep.Query{
		"query is empty":                {},
		"look-ahead or back":            {Text: "(?=x)", Regexp: true},
		"missing closing ]":             {Text: "[", Regexp: true},
		"contains a line break":         {Text: "a\nb"},
		"the limit is 1000":             {Text: strings.Repeat("x", 1001)},
		"invalid repeat count":          {Text: "x{5000}", Regexp: true},
		"missing closing )":             {Text: strings.Repeat("(", 900), Regexp: true},
		"is not a valid RE2 expression": {Text: "((((x{100}){100}){100}){100})", Regexp: true},
	} {
		if _, err := grep.Compile(q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: error %v, want %q", q.Text, err, want)
		}
	}
}

func TestBinaryStreamsAreRejected(t *testing.T) {
	m, err := grep.Compile(grep.Query{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Scan(t.Context(), strings.NewReader("x\x00x"), 1, func(grep.Line) {}); !errors.Is(err, grep.ErrBinary) {
		t.Errorf("error %v, want ErrBinary", err)
	}
}

// endless is a log that is generated while it is read.
type endless struct {
	block  string
	left   int
	before func()
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if e.before != nil {
		e.before()
	}
	n := copy(p, e.block[:min(len(e.block), e.left)])
	e.left -= n
	return n, nil
}

func TestMemoryDoesNotGrowWithTheStream(t *testing.T) {
	const size = 64 << 20
	block := strings.Repeat("2026-11-20 INFO a line of a log without anything\n", 2000) + "2026-11-20 ERROR one\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, n := scan(t, grep.Query{Text: "ERROR", Context: 1}, &endless{block: block, left: size}, 20)
	runtime.ReadMemStats(&after)
	if want := size / len(block); n < want/2 {
		t.Errorf("%d matches, want about %d", n, want)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("allocated %d bytes for %d", grown, size)
	}
}

func TestScanEndsWithItsContext(t *testing.T) {
	m, err := grep.Compile(grep.Query{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &endless{block: "abc\n", left: 1 << 50, before: cancel}
	if _, err := m.Scan(ctx, r, 1, func(grep.Line) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

func BenchmarkScan(b *testing.B) {
	block := strings.Repeat("2026-11-20 INFO a line of a log without anything\n", 20_000) + "2026-11-20 ERROR one\n"
	for _, q := range []grep.Query{
		{Text: "ERROR"}, {Text: "error", IgnoreCase: true}, {Text: "ERR[A-Z]+ o", Regexp: true}, {Text: "INFO"},
	} {
		b.Run(fmt.Sprintf("%s regexp=%v fold=%v", q.Text, q.Regexp, q.IgnoreCase), func(b *testing.B) {
			m, err := grep.Compile(q)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Scan(b.Context(), strings.NewReader(block), 50, func(grep.Line) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
