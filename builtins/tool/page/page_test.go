package page_test

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/tool/page"
)

func TestText(t *testing.T) {
	base, err := url.Parse("https://example.org/docs/a.html")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, html, title, text string }{
		{"paragraphs", "<p>One\n two</p><p>three</p>", "", "One two\n\nthree"},
		{"title", "<html><head><title> A &amp;\n B </title></head><body>text", "A & B", "text"},
		{"words across tags", "a<b>b</b>c <i> d</i>e", "", "abc de"},
		{"scripts and styles go", "a<script>if (1<2) alert('</b>')</script><style>p{}</style>b", "", "ab"},
		{"script with odd end", "a<SCRIPT type=x>x</ScRiPt >b", "", "ab"},
		{"script that never ends", "a<script>x", "", "a"},
		{"comments go", "a<!-- <p>x</p> -->b<!doctype html>c<?xml ?>d", "", "abcd"},
		{"headings", "<h1>Top</h1>x<h3>Sub</h3>y", "", "# Top\n\nx\n\n### Sub\n\ny"},
		{"lists", "<ul><li>a</li><li>b<li>c</ul>", "", "- a\n- b\n- c"},
		{"tables", "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "", "a | b\n1 | 2"},
		{"links are resolved", `<a href="../x?a=1&amp;b=2">X</a>.`, "", "X (https://example.org/x?a=1&b=2)."},
		{"links without use", `<a href="#top">up</a> <a href="javascript:alert(1)">x</a> <a href="/y"></a>`, "", "up x"},
		{"unquoted and single quotes", `<a href=/x>X</a> <a class='a>b' href='/y'>Y</a>`, "", "X (https://example.org/x) Y (https://example.org/y)"},
		{"pictures", `<img src=x alt="a cat">`, "", "a cat"},
		{"line breaks", "a<br>b<br/>c", "", "a\nb\nc"},
		{"preformatted text", "<pre>a\n  b\n</pre>", "", "a\n  b"},
		{"entities", "&lt;b&gt; &eacute;&nbsp;&#8364;", "", "<b> é €"},
		{"stray angles", "1 < 2 and <3 > 2", "", "1 < 2 and <3 > 2"},
		{"tag that never ends", "a <b and more", "", "a"},
		{"invalid UTF-8", "a\xff", "", "a\uFFFD"},
		{"nothing", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			title, text := page.Text(tt.html, base)
			if diff := cmp.Diff([]string{tt.title, tt.text}, []string{title, text}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHostilePagesTakeLinearTime(t *testing.T) {
	const n = 1 << 20
	for name, part := range map[string]string{
		"open tags": "<a ", "open quotes": `<a x="`, "open scripts": "<script>", "script ends": "<script></script ", "open comments": "<!--",
		"angles": "<", "entities": "&amp", "links": `<a href="x">`, "list": "<li>", "end tags": "</a ", "breaks": "<p>", "spaces": "  ", "script prefixes": "<script></scrip",
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			page.Text(strings.Repeat(part, n/len(part)), nil)
			// generous, for a busy machine; quadratic time would take far longer
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("%s for 1 MiB", took)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"<p>a</p>", "<a href='x'>", "<script></script>", "<!--", "<a b=\"c", "</", "<h1", "<title>&#x0;", "<li>\xff<td>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, text := page.Text(s, nil)
		if !utf8.ValidString(text) {
			t.Errorf("invalid UTF-8 from %q", s)
		}
		if again, _ := page.Text(s, &url.URL{}); strings.Contains(again, "\n\n\n") {
			t.Errorf("two empty lines from %q: %q", s, again)
		}
	})
}
