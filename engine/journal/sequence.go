package journal

import (
	"encoding/json"
	"errors"
	"strconv"
)

// maxSequence bounds the expansion of references: a malicious journal could double it
// with every line.
const maxSequence = 1 << 22

var errReference = errors.New("reference to what does not stand before it")

// reference is one item, or a run of adjacent earlier items.
type reference struct {
	item        int32 // 0 = a run
	from, count int
}

// UnmarshalJSON reads an item's id, or [index, length] of a run.
func (r *reference) UnmarshalJSON(b []byte) error {
	*r = reference{}
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, &r.item)
	}
	var run [2]int
	err := json.Unmarshal(b, &run)
	r.from, r.count = run[0], run[1]
	return err
}

// sequence holds all items so far, in order.
type sequence struct {
	items    []int32
	previous []int32 // previous occurrence of the same item, as in last
	last     []int32 // last occurrence of an item, counted from 1; 0 = none
}

// maxCandidates is how many earlier occurrences pack tries to find the longest run.
const maxCandidates = 4

// pack appends ids to b as references into the sequence, and adds them to it.
func (s *sequence) pack(b []byte, ids []int32) []byte {
	b = append(b, '[')
	for i := 0; i < len(ids); {
		if i > 0 {
			b = append(b, ',')
		}
		from, n := s.longestRun(ids[i:])
		if n == 1 {
			b = strconv.AppendInt(b, int64(ids[i]), 10)
		} else {
			b = strconv.AppendInt(append(b, '['), int64(from), 10)
			b = append(strconv.AppendInt(append(b, ','), int64(n), 10), ']')
		}
		i += n
	}
	s.add(ids)
	return append(b, ']')
}

// unpack reverses pack; limit is the largest valid id.
func (s *sequence) unpack(refs []reference, limit int) ([]int32, error) {
	ids := []int32{}
	for _, r := range refs {
		switch {
		case r.item > 0 && int(r.item) <= limit:
			ids = append(ids, r.item)
		case r.item == 0 && r.from >= 0 && r.count > 0 && r.count <= len(s.items)-r.from:
			ids = append(ids, s.items[r.from:r.from+r.count]...)
		default:
			return nil, errReference
		}
		if len(s.items)+len(ids) > maxSequence {
			return nil, errors.New("references expand to too much")
		}
	}
	s.add(ids)
	return ids, nil
}

// longestRun returns the longest run that ids begin with; of equal ones the latest.
func (s *sequence) longestRun(ids []int32) (from, n int) {
	n = 1
	if int(ids[0]) >= len(s.last) {
		return 0, n
	}
	at := s.last[ids[0]]
	for look := 0; look < maxCandidates && at > 0; look++ {
		if m := s.matchLen(int(at)-1, ids); m > n {
			from, n = int(at)-1, m
		}
		at = s.previous[at-1]
	}
	return from, n
}

// matchLen returns how many of ids match the items at an index.
func (s *sequence) matchLen(at int, ids []int32) int {
	there := s.items[at:]
	n := min(len(there), len(ids))
	for i := range n {
		if there[i] != ids[i] {
			return i
		}
	}
	return n
}

func (s *sequence) add(ids []int32) {
	for _, id := range ids {
		if n := int(id) + 1 - len(s.last); n > 0 {
			s.last = append(s.last, make([]int32, n)...)
		}
		s.items, s.previous = append(s.items, id), append(s.previous, s.last[id])
		s.last[id] = int32(len(s.items))
	}
}
