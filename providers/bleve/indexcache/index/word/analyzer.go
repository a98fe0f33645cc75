package word

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/registry"
)

const (
	partsName = "pex_parts"
	plainName = "pex_plain"
	pairsName = "pex_pairs"
)

// New returns the analyzer for a language, one of Languages.
func New(language string) (analysis.Analyzer, error) {
	i := slices.IndexFunc(languages, func(l languageFilters) bool { return l.name == language })
	if i < 0 {
		return nil, fmt.Errorf("unknown language %q; supported languages: %s", language, strings.Join(Languages(), ", "))
	}
	if err := register(); err != nil {
		return nil, err
	}
	cache := registry.NewCache()
	_, err := cache.DefineTokenFilter(pairsName, map[string]any{"type": cjk.BigramName, "output_unigram": true})
	if err != nil {
		return nil, fmt.Errorf("language %s: %w", language, err)
	}
	filters := slices.Concat([]string{partsName, lowercase.Name}, languages[i].filters, []string{plainName, pairsName})
	a, err := cache.DefineAnalyzer("words", map[string]any{"type": custom.Name, "tokenizer": unicode.Name, "token_filters": filters})
	if err != nil {
		return nil, fmt.Errorf("language %s: %w", language, err)
	}
	return a, nil
}

// register registers our filters with bleve's process-wide registry.
var register = sync.OnceValue(func() error {
	if err := registry.RegisterTokenFilter(partsName, stateless(splitIdentifiers{})); err != nil {
		return err
	}
	return registry.RegisterTokenFilter(plainName, stateless(foldAccents{}))
})

// stateless returns a constructor for a filter without settings and state.
func stateless(f analysis.TokenFilter) registry.TokenFilterConstructor {
	return func(map[string]any, *registry.Cache) (analysis.TokenFilter, error) { return f, nil }
}

// Clean replaces invalid UTF-8, at which the segmenter would stop.
func Clean(text string) string { return strings.ToValidUTF8(text, " ") }

// languageFilters are the filters of a language, applied after lowercasing and before
// accent folding, in bleve's own order.
type languageFilters struct {
	name    string
	filters []string // names of bleve's token filters
}

var languages = []languageFilters{
	{"standard", nil},
	{"en", []string{en.PossessiveName, en.StopName, en.SnowballStemmerName}},
	{"de", []string{de.StopName, de.NormalizeName, de.LightStemmerName}},
	{"es", []string{es.StopName, es.NormalizeName, es.LightStemmerName}},
	{"fr", []string{fr.ElisionName, fr.StopName, fr.LightStemmerName}},
	{"it", []string{it.ElisionName, it.StopName, it.LightStemmerName}},
	{"nl", []string{nl.StopName, nl.SnowballStemmerName}},
	{"pt", []string{pt.StopName, pt.LightStemmerName}},
}

// Languages lists the languages. "standard" only folds case and accents.
func Languages() []string {
	out := make([]string, len(languages))
	for i, l := range languages {
		out[i] = l.name
	}
	return out
}
