package index

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"

	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

// Hit is a passage found by a search.
type Hit struct {
	File  *File
	Place Place
	Score float64
	id    string
}

// Words returns the n best passages for a question, best first; of equal scores in order
// of path and line.
func (x *Index) Words(ctx context.Context, question string, n int) (hits []Hit, err error) {
	q := bleve.NewMatchQuery(word.Clean(question))
	q.SetField(wordsField)
	r := bleve.NewSearchRequestOptions(q, n, 0, false)
	r.Sort = search.SortOrder{&search.SortScore{Desc: true}, &search.SortDocID{}}
	r.PreSearchData = map[string]any{search.BM25PreSearchDataKey: x.statistics()}
	return x.find(ctx, r)
}

// statistics returns the BM25 statistics of all passages. Left to itself, bleve 2.5
// counts distinct terms instead of all terms: the average length becomes about 1, long
// passages are penalized excessively, and scores depend on the history of the index.
func (x *Index) statistics() *search.BM25Stats {
	passages, terms := 0, 0
	for _, f := range x.files {
		passages += f.Passages
		terms += f.Terms
	}
	return &search.BM25Stats{DocCount: float64(passages), FieldCardinality: map[string]int{wordsField: terms, idField: passages}}
}

// byID queries passages by id as terms: bleve's query for ids uses goroutines of its own,
// in which a damaged index crashes the process.
func (x *Index) byID(ids []string) *bleve.SearchRequest {
	terms := make([]query.Query, len(ids))
	for i, id := range ids {
		q := bleve.NewTermQuery(id)
		q.SetField(idField)
		terms[i] = q
	}
	r := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(terms...), len(ids), 0, false)
	r.PreSearchData = map[string]any{search.BM25PreSearchDataKey: x.statistics()}
	return r
}

// places returns the places of passages by id.
func (x *Index) places(ctx context.Context, ids []string) (map[string]Place, error) {
	hits, err := x.find(ctx, x.byID(ids))
	if err == nil && len(hits) != len(ids) {
		err = fmt.Errorf("%w: %d of %d passages are missing", ErrBroken, len(ids)-len(hits), len(ids))
	}
	out := make(map[string]Place, len(hits))
	for _, h := range hits {
		out[h.id] = h.Place
	}
	return out, err
}

// find runs a search.
func (x *Index) find(ctx context.Context, r *bleve.SearchRequest) ([]Hit, error) {
	r.Fields = []string{placeField}
	var hits []Hit // not read after an aborted search
	err := x.do(func() error {
		found, err := x.bleve.SearchInContext(ctx, r)
		if err != nil {
			return err
		}
		hits = make([]Hit, 0, len(found.Hits))
		for _, d := range found.Hits {
			h := Hit{File: x.files[pathOf(d.ID)], Score: d.Score, id: d.ID}
			text, _ := d.Fields[placeField].(string)
			if err := json.Unmarshal([]byte(text), &h.Place); err != nil || h.File == nil || !h.Place.within(h.File) {
				return fmt.Errorf("%w: invalid place of a passage", ErrBroken)
			}
			hits = append(hits, h)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

// within reports whether a place is valid in a file.
func (p Place) within(f *File) bool {
	return p.From >= 0 && p.From <= p.To && int64(p.To) <= f.Size && p.Start > 0 && p.Start <= p.End
}

// topHits sorts hits and returns the n best.
func topHits(hits []Hit, n int) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(a.Score, b.Score), strings.Compare(a.id, b.id))
	})
	return hits[:min(len(hits), n)]
}
