package report

import (
	"fmt"
	"hash/maphash"
	"math"
)

// tally is what is kept of one case under one variant while rows stream by.
// Sums are whole numbers of a small unit, so that the order of rows cannot show.
type tally struct {
	id        string
	weight    float64
	score     int64 // of graded trials, as are the next three
	cost      int64
	latency   int64
	tokens    int64
	seen      uint64 // repeats 1 to 64 that have a row
	line      int32
	group     int32 // number of its name; -1 = none
	reason    int32 // number of its reason; -1 = none
	variant   uint16
	n, passed uint16 // graded trials, and those of them that passed
	errors    uint16
	skipped   uint16
	held      bool // in quarantine: in no figure but those of its own
}

// The units of sums.
const (
	scoreUnit   = 1e9  // of a score of 1
	costUnit    = 1e12 // of a dollar
	latencyUnit = 1e3  // of a millisecond
)

// fixed is a figure in whole units. What is no number is none.
func fixed(x, unit float64) int64 {
	x = math.Round(x * unit)
	if math.IsNaN(x) || math.Abs(x) > math.MaxInt64/4 {
		return 0
	}
	return int64(x)
}

// mean is a sum of units per trial.
func (t *tally) mean(sum int64, unit float64) float64 {
	if t.n == 0 {
		return 0
	}
	return float64(sum) / unit / float64(t.n)
}

// count adds one to a count of trials.
func (t *tally) count(c *uint16) error {
	if *c == math.MaxUint16 {
		return fmt.Errorf("case %q has more than %d trials", t.id, math.MaxUint16)
	}
	*c++
	return nil
}

// chunkSize is how many tallies are allocated at once: a list that grows by
// copying would hold them twice.
const chunkSize = 1024

// tallies finds tallies by case and variant.
type tallies struct {
	chunks [][]tally
	table  []int32 // by hash: number + 1; 0 = free
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

// find returns the number of a case under a variant; ok is false when there is
// none yet, and slot is then where it belongs.
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

// add puts a tally where find said.
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

// checkTally is what is kept of one check.
type checkTally struct {
	name   string
	chunks [][]markCount // by the number of the tally; nil = none there
	errors int
}

// of is the count for a tally.
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

// names numbers names as they come.
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
