package index

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/blevesearch/bleve/v2/analysis"

	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

// builder collects the content of a segment.
type builder struct {
	paths    []string
	passages []byte
	places   list
	vectors  []byte
	postings map[string][]posting
}

func newBuilder() *builder { return &builder{postings: map[string][]posting{}} }

// analyzed is a passage to store.
type analyzed struct {
	place  []byte // JSON
	terms  int
	counts map[string]uint32 // by term
	vector []float32
}

// analyze splits a passage and its context into terms.
func analyze(a analysis.Analyzer, p Passage) analyzed {
	place, _ := json.Marshal(p.Place) // strings and numbers always encode
	out := analyzed{place: place, counts: map[string]uint32{}, vector: p.Vector}
	add := func(text string, weight int) {
		for _, token := range a.Analyze([]byte(word.Clean(text))) {
			out.counts[string(token.Term)] += uint32(weight)
			out.terms += weight
		}
	}
	add(p.Text, 1)
	for _, c := range p.Context {
		add(c, contextWeight)
	}
	return out
}

// file adds a file; its passages follow.
func (b *builder) file(path string) { b.paths = append(b.paths, path) }

// add adds the next passage of the last file.
func (b *builder) add(number int, p analyzed) {
	i := b.place(passage{len(b.paths) - 1, number, p.terms, len(p.vector)}, p.place)
	for term, n := range p.counts {
		b.postings[term] = append(b.postings[term], posting{i, n})
	}
	for _, x := range p.vector {
		b.vectors = binary.LittleEndian.AppendUint32(b.vectors, math.Float32bits(x))
	}
}

// place adds the description of a passage and returns its number.
func (b *builder) place(p passage, place []byte) uint32 {
	for _, n := range []int{p.path, p.number, p.terms, p.dimensions} {
		b.passages = binary.LittleEndian.AppendUint32(b.passages, uint32(n))
	}
	b.places.add(place)
	return uint32(b.places.len() - 1)
}

// merge adds the files of a segment for which keep returns true.
func (b *builder) merge(s *segment, keep func(path string) bool) error {
	numbers := make([]int, s.len()) // new numbers of the passages; -1 = left out
	at := 0                         // in the vectors
	for path, name := range s.paths {
		kept := keep(name)
		if kept {
			b.file(name)
		}
		for i := s.first[path]; i < s.first[path+1]; i++ {
			p := s.passage(i)
			end := at + 4*p.dimensions
			if numbers[i] = -1; kept {
				if end > len(s.vectors) {
					return errSegment
				}
				b.vectors = append(b.vectors, s.vectors[at:end]...)
				p.path = len(b.paths) - 1
				numbers[i] = int(b.place(p, s.places.at(i)))
			}
			at = end
		}
	}
	for t := range s.terms.len() {
		list, err := s.postingsAt(t)
		if err != nil {
			return err
		}
		for _, p := range list {
			if n := numbers[p.passage]; n >= 0 {
				term := string(s.terms.at(t))
				b.postings[term] = append(b.postings[term], posting{uint32(n), p.count})
			}
		}
	}
	return nil
}

// encode returns the segment.
func (b *builder) encode() []byte {
	paths, _ := json.Marshal(b.paths) // strings always encode
	var terms, postings list
	for _, term := range slices.Sorted(maps.Keys(b.postings)) {
		var raw []byte
		next := uint32(0)
		for _, p := range b.postings[term] {
			raw = binary.AppendUvarint(raw, uint64(p.passage-next))
			raw = binary.AppendUvarint(raw, uint64(p.count))
			next = p.passage + 1
		}
		terms.add([]byte(term))
		postings.add(raw)
	}
	out := []byte(segmentMagic)
	for _, part := range [][]byte{paths, b.passages, b.places.text, b.places.ends, terms.text, terms.ends, postings.text, postings.ends} {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(part)))
		out = append(out, part...)
	}
	return out
}
