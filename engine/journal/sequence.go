package journal

import (
	"encoding/json"
	"errors"
	"strconv"
)

// maxSequence bounds what references may expand to: a hostile journal could
// double it with every line.
const maxSequence = 1 << 22

var errReference = errors.New("reference to what does not stand before it")

// reference is one item, or a run of them that stood side by side before.
type reference struct {
	item        int32 // 0 = a run
	from, count int
}

// UnmarshalJSON reads an item's id, or [place, length] of a run.
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

// sequence is all items so far, in order.
type sequence struct {
	items []int32
	last  []int32 // where an item stood last, counted from 1; 0 = nowhere
}

// pack writes ids behind b as references into the sequence, and adds them to it.
func (s *sequence) pack(b []byte, ids []int32) []byte {
	b = append(b, '[')
	for i := 0; i < len(ids); {
		if i > 0 {
			b = append(b, ',')
		}
		from, n := s.place(ids[i]), 1
		for from >= 0 && from+n < len(s.items) && i+n < len(ids) && s.items[from+n] == ids[i+n] {
			n++
		}
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

// unpack is the reverse of pack; items are ids from 1 to max.
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

// place is where an item stood last, or -1.
func (s *sequence) place(id int32) int {
	if int(id) >= len(s.last) {
		return -1
	}
	return int(s.last[id]) - 1
}

func (s *sequence) add(ids []int32) {
	for _, id := range ids {
		if n := int(id) + 1 - len(s.last); n > 0 {
			s.last = append(s.last, make([]int32, n)...)
		}
		s.items = append(s.items, id)
		s.last[id] = int32(len(s.items))
	}
}
