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
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"
)

// Analyzer is the name of the analyzer that Add adds.
const Analyzer = "words"

const (
	partsName = "pex_parts"
	plainName = "pex_plain"
	pairsName = "pex_pairs"
)

// Add adds the analyzer of a language, one of Languages, to a mapping.
func Add(m *mapping.IndexMappingImpl, language string) error {
	i := slices.IndexFunc(languages, func(l languageOf) bool { return l.name == language })
	if i < 0 {
		return fmt.Errorf("there is no language %q; there are %s", language, strings.Join(Languages(), ", "))
	}
	if err := register(); err != nil {
		return err
	}
	if err := m.AddCustomTokenFilter(pairsName, map[string]any{"type": cjk.BigramName, "output_unigram": true}); err != nil {
		return fmt.Errorf("language %s: %w", language, err)
	}
	filters := slices.Concat([]string{partsName, lowercase.Name}, languages[i].filters, []string{plainName, pairsName})
	err := m.AddCustomAnalyzer(Analyzer, map[string]any{"type": custom.Name, "tokenizer": unicode.Name, "token_filters": filters})
	if err != nil {
		return fmt.Errorf("language %s: %w", language, err)
	}
	return nil
}

// register makes our filters known to bleve, whose registry is one for the
// process: it has to know them before an index is opened that names them.
var register = sync.OnceValue(func() error {
	if err := registry.RegisterTokenFilter(partsName, always(parts{})); err != nil {
		return err
	}
	return registry.RegisterTokenFilter(plainName, always(plain{}))
})

// always makes one filter, which has no settings and no state.
func always(f analysis.TokenFilter) registry.TokenFilterConstructor {
	return func(map[string]any, *registry.Cache) (analysis.TokenFilter, error) { return f, nil }
}

// Clean makes a text one that can be cut into words: the segmenter ends where a
// text is no UTF-8.
func Clean(text string) string { return strings.ToValidUTF8(text, " ") }

// languageOf is what is done with the words of a language, after small letters
// and before accents: bleve's own order for each.
type languageOf struct {
	name    string
	filters []string // names of bleve's token filters
}

var languages = []languageOf{
	{"standard", nil},
	{"en", []string{en.PossessiveName, en.StopName, en.SnowballStemmerName}},
	{"de", []string{de.StopName, de.NormalizeName, de.LightStemmerName}},
	{"es", []string{es.StopName, es.NormalizeName, es.LightStemmerName}},
	{"fr", []string{fr.ElisionName, fr.StopName, fr.LightStemmerName}},
	{"it", []string{it.ElisionName, it.StopName, it.LightStemmerName}},
	{"nl", []string{nl.StopName, nl.SnowballStemmerName}},
	{"pt", []string{pt.StopName, pt.LightStemmerName}},
}

// Languages lists the names that New takes; "standard" knows no language: words
// are found as they are written, but for capitals and accents.
func Languages() []string {
	out := make([]string, len(languages))
	for i, l := range languages {
		out[i] = l.name
	}
	return out
}
