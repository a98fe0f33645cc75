package index

import (
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/blevesearch/bleve/v2/mapping"

	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

// The fields of a passage.
const (
	wordsField  = "words"
	placeField  = "place"
	vectorField = "vector"
	idField     = "_id" // bleve's own
)

// Mapping returns the index mapping for passages in a language.
func Mapping(language string) (*mapping.IndexMappingImpl, error) {
	m := mapping.NewIndexMapping()
	if err := word.Add(m, language); err != nil {
		return nil, err
	}
	words := mapping.NewTextFieldMapping()
	words.Analyzer, words.Store, words.IncludeTermVectors, words.IncludeInAll, words.DocValues = word.Analyzer, false, false, false, false
	stored := mapping.NewTextFieldMapping()
	stored.Index, stored.IncludeTermVectors, stored.IncludeInAll, stored.DocValues = false, false, false, false
	m.DefaultMapping = mapping.NewDocumentStaticMapping()
	m.DefaultMapping.AddFieldMappingsAt(wordsField, words)
	m.DefaultMapping.AddFieldMappingsAt(placeField, stored)
	m.DefaultMapping.AddFieldMappingsAt(vectorField, stored)
	m.DefaultMapping.AddSubDocumentMapping("_all", mapping.NewDocumentDisabledMapping())
	m.IndexDynamic, m.StoreDynamic, m.DocValuesDynamic = false, false, false
	m.ScoringModel = "bm25"
	return m, nil
}

// fieldsOf returns the fields of a passage.
func fieldsOf(p Passage) map[string]any {
	words := []string{word.Clean(p.Text)}
	for _, c := range p.Context {
		for range contextWeight {
			words = append(words, word.Clean(c))
		}
	}
	// strings and numbers always encode
	place, _ := json.Marshal(p.Place)
	out := map[string]any{wordsField: words, placeField: string(place)}
	if len(p.Vector) > 0 {
		out[vectorField] = string(encodeVector(p.Vector))
	}
	return out
}

// encodeVector encodes a vector as bytes.
func encodeVector(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// appendVector decodes a vector and appends it to out.
func appendVector(out []float32, b string) []float32 {
	for ; len(b) >= 4; b = b[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32([]byte(b[:4]))))
	}
	return out
}
