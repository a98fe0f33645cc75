package word

import (
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
)

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
