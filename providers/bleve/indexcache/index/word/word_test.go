package word_test

import (
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

func terms(t *testing.T, language, text string) []string {
	t.Helper()
	return analyze(t, analyzer(t, language), text)
}

func analyzer(t testing.TB, language string) analysis.Analyzer {
	t.Helper()
	a, err := word.New(language)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func analyze(t *testing.T, a analysis.Analyzer, text string) (out []string) {
	t.Helper()
	for _, token := range a.Analyze([]byte(word.Clean(text))) {
		out = append(out, string(token.Term))
	}
	return out
}

func TestTerms(t *testing.T) {
	tests := []struct{ name, language, text, want string }{
		{"words", "standard", "Ships, and THE sea.", "ships and the sea"},
		{"english stems, without stop words", "en", "The ship's captains were running", "ship captain run"},
		{"german stems", "de", "Die Häuser der Straße", "haus strass"},
		{"accents do not count", "standard", "Müller café naïve", "muller cafe naive"},
		{"decomposed accents", "standard", "Mu\u0308ller", "muller"},
		{"ideographs by pairs and alone", "standard", "东京都", "东 东京 京 京都 都"},
		{"snake case", "standard", "max_output_bytes", "max_output_bytes max output bytes"},
		{"camel case", "standard", "parseHTTPRequest", "parsehttprequest parse http request"},
		{"dotted", "standard", "os.Root", "os.root os root"},
		{"an apostrophe does not separate", "standard", "don't", "don't"},
		{"digits stay with their letters", "standard", "utf8 s3", "utf8 s3"},
		{"flags", "standard", "--dry-run=true", "dry run true"},
		{"no words", "en", " .,; the \n", ""},
		{"a mark alone is not a word", "standard", "a \u0301 b", "a b"},
		{"invalid UTF-8", "en", "ship\xff\xfesail", "ship sail"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, strings.Join(terms(t, tt.language, tt.text), " ")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEveryLanguageHasAnAnalyzer(t *testing.T) {
	for _, l := range word.Languages() {
		if got := terms(t, l, "Amsterdam 2026"); len(got) != 2 {
			t.Errorf("%s: %q, want two terms", l, got)
		}
	}
	if _, err := word.New("klingon"); err == nil || !strings.Contains(err.Error(), "standard, en, de") {
		t.Errorf("error %v, want the supported languages", err)
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"", "aB_c.D", "东a京", "\xff\u0308x", "ÄÖ’s"} {
		f.Add(s)
	}
	m := analyzer(f, "en")
	f.Fuzz(func(t *testing.T, s string) {
		one := analyze(t, m, s)
		if d := cmp.Diff(one, analyze(t, m, s)); d != "" {
			t.Error(d)
		}
		if most := 3*len(s) + 1; len(one) > most {
			t.Errorf("%d terms of %d bytes", len(one), len(s))
		}
	})
}
