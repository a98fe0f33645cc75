package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

// Hit is a passage found by a search.
type Hit struct {
	File   *File
	Place  Place
	Score  float64
	number int // of the passage in its file
}

// The parameters of BM25: how fast repetitions of a term stop to count, and how much the
// length of a passage matters.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// Words returns the n best passages for a question, best first; of equal scores in order
// of path and line.
//
// The score is BM25 with the square root of the term frequency, weighted again by the
// rarity of each term, times the share of the question's terms that the passage has.
func (x *Index) Words(ctx context.Context, question string, n int) ([]Hit, error) {
	terms, err := x.lookUp(ctx, question)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	var hits []Hit
	average := x.averageTerms()
	for i, s := range x.segments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hits = topHits(append(hits, x.score(s, i, terms, average)...), n)
	}
	for i := range hits {
		if err := x.locate(&hits[i]); err != nil {
			return nil, err
		}
	}
	return hits, nil
}

// term is a term of a question. Repeated terms count repeatedly.
type term struct {
	postings [][]posting // by segment
	rarity   float64     // inverse document frequency
	weight   float64
}

// lookUp returns the terms of a question with the postings of current passages.
func (x *Index) lookUp(ctx context.Context, question string) ([]term, error) {
	live := make([][]bool, len(x.segments)) // by segment and passage
	for i, s := range x.segments {
		live[i] = x.livePassages(s)
	}
	var terms []term
	total, squares := float64(x.Passages()), 0.0
	for _, token := range x.analyzer.Analyze([]byte(word.Clean(question))) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, found := term{}, 0.0
		for i, s := range x.segments {
			list, err := s.term(token.Term)
			if err != nil {
				return nil, broken(err)
			}
			list = slices.DeleteFunc(list, func(p posting) bool { return !live[i][p.passage] })
			t.postings = append(t.postings, list)
			found += float64(len(list))
		}
		t.rarity = math.Log(1 + (total-found+0.5)/(found+0.5))
		squares += t.rarity * t.rarity
		terms = append(terms, t)
	}
	for i := range terms {
		if terms[i].weight = 1; len(terms) > 1 {
			terms[i].weight = terms[i].rarity / math.Sqrt(squares)
		}
	}
	return terms, nil
}

// livePassages reports which passages of a segment were not replaced.
func (x *Index) livePassages(s *segment) []bool {
	out, in := make([]bool, s.len()), x.isIn(s)
	for path, name := range s.paths {
		if in(name) {
			for i := s.first[path]; i < s.first[path+1]; i++ {
				out[i] = true
			}
		}
	}
	return out
}

// averageTerms returns the mean length of a passage in terms.
func (x *Index) averageTerms() float64 {
	passages, terms := 0, 0
	for _, f := range x.files {
		passages += f.Passages
		terms += f.Terms
	}
	return float64(terms) / float64(max(passages, 1))
}

// score returns the passages of segment number i that have one of the terms.
func (x *Index) score(s *segment, i int, terms []term, average float64) (hits []Hit) {
	scores, matches := make([]float64, s.len()), make([]int, s.len())
	for _, t := range terms {
		for _, p := range t.postings[i] {
			length := float64(s.passage(int(p.passage)).terms)
			frequency := math.Sqrt(float64(p.count))
			norm := bm25K1 * (1 - bm25B + bm25B*length/average)
			scores[p.passage] += t.weight * t.rarity * frequency * bm25K1 / (frequency + norm)
			matches[p.passage]++
		}
	}
	for k, n := range matches {
		if n > 0 {
			p := s.passage(k)
			score := scores[k] * float64(n) / float64(len(terms))
			hits = append(hits, Hit{File: x.files[s.paths[p.path]], Score: score, number: p.number})
		}
	}
	return hits
}

// locate reads the place of a hit.
func (x *Index) locate(h *Hit) (err error) {
	at := x.newest[h.File.Path]
	h.Place, err = at.segment.place(at.segment.first[at.path] + h.number)
	if err == nil && !h.Place.within(h.File) {
		err = fmt.Errorf("invalid place of a passage of %s", h.File.Path)
	}
	return broken(err)
}

// within reports whether a place is valid in a file.
func (p Place) within(f *File) bool {
	return p.From >= 0 && p.From <= p.To && int64(p.To) <= f.Size && p.Start > 0 && p.Start <= p.End
}

// topHits sorts hits and returns the n best.
func topHits(hits []Hit, n int) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(a.Score, b.Score), strings.Compare(a.File.Path, b.File.Path), cmp.Compare(a.number, b.number))
	})
	return hits[:min(len(hits), n)]
}
