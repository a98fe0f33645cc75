package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sort"
)

// segment is an immutable part of an index: the passages of some files, and the postings
// of their terms.
//
//	magic, then sections, each behind its length in 4 bytes:
//	paths             JSON
//	passages          4 numbers each: path, number in its file, terms, dimensions
//	places, ends      JSON each, and where each ends
//	terms, ends       sorted
//	postings, ends    by term: pairs of varints, the distance to the passage before and
//	                  how often it contains the term
//
// All other numbers have 4 bytes. Vectors are in a file of their own, in order of the
// passages.
type segment struct {
	segmentFile
	paths    []string
	first    []int // by path: the first passage; one more at the end
	passages []byte
	places   list
	terms    list
	postings list
	vectors  []byte // nil = not read yet
}

// segmentFile identifies the files of a segment.
type segmentFile struct {
	Name       string `json:"name"`
	Sum        uint32 `json:"crc32c"`
	VectorsSum uint32 `json:"vectors_crc32c,omitempty"`
	Vectors    int    `json:"vectors,omitempty"` // bytes
}

const (
	segmentMagic = "pexseg1\n"
	passageSize  = 16 // bytes of a passage's numbers
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// list is a list of strings in one piece.
type list struct{ text, ends []byte }

func (l list) len() int { return len(l.ends) / 4 }

func (l list) end(i int) uint32 {
	if i < 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(l.ends[4*i:])
}

func (l list) at(i int) []byte { return l.text[l.end(i-1):l.end(i)] }

func (l *list) add(text []byte) {
	l.text = append(l.text, text...)
	l.ends = binary.LittleEndian.AppendUint32(l.ends, uint32(len(l.text)))
}

// valid reports whether the ends are ascending and within the text.
func (l list) valid() bool {
	if len(l.ends)%4 != 0 || l.len() > 0 && int(l.end(l.len()-1)) != len(l.text) || l.len() == 0 && len(l.text) > 0 {
		return false
	}
	for i := range l.len() {
		if l.end(i) < l.end(i-1) {
			return false
		}
	}
	return true
}

// passage is the part of a passage's description that ranking needs.
type passage struct {
	path, number      int
	terms, dimensions int
}

func (s *segment) passage(i int) passage {
	n := func(k int) int { return int(binary.LittleEndian.Uint32(s.passages[passageSize*i+4*k:])) }
	return passage{n(0), n(1), n(2), n(3)}
}

func (s *segment) len() int { return len(s.passages) / passageSize }

// posting is how often a passage contains a term.
type posting struct{ passage, count uint32 }

var errSegment = errors.New("invalid segment")

// decodeSegment decodes a segment whose checksum is right.
func decodeSegment(raw []byte) (*segment, error) {
	if len(raw) < len(segmentMagic) || string(raw[:len(segmentMagic)]) != segmentMagic {
		return nil, errSegment
	}
	raw = raw[len(segmentMagic):]
	var parts [8][]byte
	for i := range parts {
		if len(raw) < 4 || uint64(binary.LittleEndian.Uint32(raw)) > uint64(len(raw)-4) {
			return nil, errSegment
		}
		n := 4 + binary.LittleEndian.Uint32(raw)
		parts[i], raw = raw[4:n], raw[n:]
	}
	s := &segment{
		passages: parts[1],
		places:   list{parts[2], parts[3]}, terms: list{parts[4], parts[5]}, postings: list{parts[6], parts[7]},
	}
	if err := json.Unmarshal(parts[0], &s.paths); err != nil {
		return nil, errSegment
	}
	valid := s.places.valid() && s.terms.valid() && s.postings.valid() && len(s.passages)%passageSize == 0
	if !valid || s.places.len() != s.len() || s.postings.len() != s.terms.len() || len(raw) > 0 {
		return nil, errSegment
	}
	return s, s.locate()
}

// locate finds the passages of each path, which must be in order.
func (s *segment) locate() error {
	s.first = make([]int, len(s.paths)+1)
	path, number := 0, 0
	for i := range s.len() {
		p := s.passage(i)
		for ; path < p.path && path < len(s.paths); path++ {
			s.first[path+1], number = i, 0
		}
		if p.path != path || path == len(s.paths) || p.number != number {
			return errSegment
		}
		number++
	}
	for ; path < len(s.paths); path++ {
		s.first[path+1] = s.len()
	}
	return nil
}

// term returns the postings of a term.
func (s *segment) term(term []byte) ([]posting, error) {
	i := sort.Search(s.terms.len(), func(i int) bool { return string(s.terms.at(i)) >= string(term) })
	if i == s.terms.len() || string(s.terms.at(i)) != string(term) {
		return nil, nil
	}
	return s.postingsAt(i)
}

// postingsAt decodes the postings of the term with number i.
func (s *segment) postingsAt(i int) ([]posting, error) {
	raw := s.postings.at(i)
	out := make([]posting, 0, len(raw)/2)
	next := uint64(0)
	for len(raw) > 0 {
		distance, n := binary.Uvarint(raw)
		if n <= 0 || distance > math.MaxUint32 {
			return nil, errSegment
		}
		count, m := binary.Uvarint(raw[n:])
		if next += distance; m <= 0 || count > math.MaxUint32 || next >= uint64(s.len()) {
			return nil, errSegment
		}
		raw = raw[n+m:]
		out = append(out, posting{uint32(next), uint32(count)})
		next++
	}
	return out, nil
}

// vectorsOf returns the vectors of a path's passages, concatenated; load must have been
// called.
func (s *segment) vectorsOf(path int) ([]float32, error) {
	at, size := 0, 0
	for i := range s.first[path+1] {
		if n := 4 * s.passage(i).dimensions; i < s.first[path] {
			at += n
		} else {
			size += n
		}
	}
	if at+size > len(s.vectors) {
		return nil, errSegment
	}
	out := make([]float32, 0, size/4)
	for raw := s.vectors[at : at+size]; len(raw) > 0; raw = raw[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return out, nil
}

// place returns the place of a passage.
func (s *segment) place(i int) (p Place, err error) {
	if err = json.Unmarshal(s.places.at(i), &p); err != nil {
		err = fmt.Errorf("%w: place of a passage: %w", errSegment, err)
	}
	return p, err
}
