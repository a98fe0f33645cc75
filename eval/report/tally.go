package report

import (
	"fmt"
	"hash/maphash"
	"math"
)

// tally accumulates one case under one variant while rows are read. Sums are integers in a small unit, so that
// they do not depend on the order of rows.
type tally struct {
	id          string
	weight      float64
	score       int64 // sum over graded trials, like the next three
	cost        int64
	latency     int64
	tokens      int64
	seen        uint64 // bit set of the repeats 1 to 64 that have a row
	line        int32
	group       int32 // index of its name; -1 = none
	reason      int32 // index of its reason; -1 = none
	variant     uint16
	n, passed   uint16 // graded trials, and how many of them passed
	errors      uint16
	skipped     uint16
	quarantined bool // in quarantine: in no figure but those of its own
}

// The units of sums.
const (
	scoreUnit   = 1e9  // of a score of 1
	costUnit    = 1e12 // of a dollar
	latencyUnit = 1e3  // of a millisecond
)

// toUnits converts to integer units. It returns 0 for NaN and out-of-range values.
func toUnits(x, unit float64) int64 {
	x = math.Round(x * unit)
	if math.IsNaN(x) || math.Abs(x) > math.MaxInt64/4 {
		return 0
	}
	return int64(x)
}

// mean returns the mean per graded trial.
func (t *tally) mean(sum int64, unit float64) float64 {
	if t.n == 0 {
		return 0
	}
	return float64(sum) / unit / float64(t.n)
}

// count increments a count of trials.
func (t *tally) count(c *uint16) error {
	if *c == math.MaxUint16 {
		return fmt.Errorf("case %q has more than %d trials", t.id, math.MaxUint16)
	}
	*c++
	return nil
}

// chunkSize is the number of tallies allocated at once. A growing slice would temporarily need twice the memory.
const chunkSize = 1024

// tallies stores tallies by case and variant.
type tallies struct {
	chunks [][]tally
	table  []int32 // hash table of index + 1; 0 = free
	seed   maphash.Seed
}

func newTallies() tallies { return tallies{table: make([]int32, 64), seed: maphash.MakeSeed()} }

func (t *tallies) len() int {
	if len(t.chunks) == 0 {
		return 0
	}
	return (len(t.chunks)-1)*chunkSize + len(t.chunks[len(t.chunks)-1])
}

func (t *tallies) at(i int) *tally { return &t.chunks[i/chunkSize][i%chunkSize] }

// find returns the index of a case under a variant. If there is none, ok is false and slot is the free slot for
// it.
func (t *tallies) find(id string, variant uint16) (i, slot int, ok bool) {
	mask := len(t.table) - 1
	for slot = t.hash(id, variant) & mask; t.table[slot] != 0; slot = (slot + 1) & mask {
		i = int(t.table[slot] - 1)
		if c := t.at(i); c.variant == variant && c.id == id {
			return i, slot, true
		}
	}
	return 0, slot, false
}

func (t *tallies) hash(id string, variant uint16) int {
	return int((maphash.String(t.seed, id) + uint64(variant)*0x9e37_79b9_7f4a_7c15) >> 1)
}

// add stores a tally in the slot that find returned.
func (t *tallies) add(c tally, slot int) int {
	i := t.len()
	if i%chunkSize == 0 {
		t.chunks = append(t.chunks, make([]tally, 0, chunkSize))
	}
	last := &t.chunks[len(t.chunks)-1]
	*last = append(*last, c)
	t.table[slot] = int32(i + 1)
	if 4*(i+1) > 3*len(t.table) {
		t.grow()
	}
	return i
}

func (t *tallies) grow() {
	t.table = make([]int32, 2*len(t.table))
	mask := len(t.table) - 1
	for i := range t.len() {
		c := t.at(i)
		slot := t.hash(c.id, c.variant) & mask
		for t.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		t.table[slot] = int32(i + 1)
	}
}

// markCount counts the marks of one check in one case.
type markCount struct{ n, passed uint16 }

// checkTally accumulates the results of one check.
type checkTally struct {
	name   string
	chunks [][]markCount // by index of the tally; nil = no marks
	errors int
}

// of returns the count for a tally.
func (c *checkTally) of(i int) *markCount {
	for len(c.chunks) <= i/chunkSize {
		c.chunks = append(c.chunks, nil)
	}
	chunk := &c.chunks[i/chunkSize]
	if *chunk == nil {
		*chunk = make([]markCount, chunkSize)
	}
	return &(*chunk)[i%chunkSize]
}

// names assigns consecutive numbers to names.
type names struct {
	list  []string
	index map[string]int32
}

func (n *names) number(name string) int32 {
	i, ok := n.index[name]
	if !ok {
		if n.index == nil {
			n.index = map[string]int32{}
		}
		i = int32(len(n.list))
		n.index[name] = i
		n.list = append(n.list, name)
	}
	return i
}
