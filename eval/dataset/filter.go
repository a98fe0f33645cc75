package dataset

import (
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Filter selects cases. Zero fields select all. Tags, ids and names apply first, then Sample, then First, then the
// shard. All shards together are all selected cases.
type Filter struct {
	Tags  []string             // the case has one of them
	Match *regexp.Regexp       // matches its id
	Only  func(id string) bool // a set of ids, such as those of failed cases
	Why   string               // description of Only

	Sample int   // size of a random sample; 0 = all
	Seed   int64 // of the sample: the same seed selects the same cases
	First  int   // maximum number of cases; 0 = all

	Shard, Shards int // the i-th of n shards, from 1; 0 = no shards
}

// ParseShard reads "2/5".
func ParseShard(s string) (shard, shards int, err error) {
	i, n, ok := strings.Cut(s, "/")
	if ok {
		shard, err = strconv.Atoi(i)
	}
	if ok && err == nil {
		shards, err = strconv.Atoi(n)
	}
	if !ok || err != nil || shard < 1 || shard > shards {
		return 0, 0, fmt.Errorf("shard %q: write I/N, as in 2/5", s)
	}
	return shard, shards, nil
}

// Of returns the selected cases in their order.
func (f Filter) Of(all Cases) Cases {
	return func() iter.Seq2[Case, error] {
		return func(yield func(Case, error) bool) {
			limit, err := f.threshold(all)
			if err != nil {
				yield(Case{}, err)
				return
			}
			n := 0
			for c, err := range all() {
				if err != nil {
					yield(c, err)
					return
				}
				if !f.picks(&c) || f.Sample > 0 && f.chance(c.ID) > limit {
					continue
				}
				if n++; f.First > 0 && n > f.First {
					return
				}
				if f.inShard(c.ID) && !yield(c, nil) {
					return
				}
			}
		}
	}
}

func (f Filter) picks(c *Case) bool {
	return (len(f.Tags) == 0 || slices.ContainsFunc(c.Tags, func(t string) bool { return slices.Contains(f.Tags, t) })) &&
		(f.Match == nil || f.Match.MatchString(c.ID)) && (f.Only == nil || f.Only(c.ID))
}

// threshold returns the highest chance within the sample, which has the cases with the lowest ones.
func (f Filter) threshold(all Cases) (uint64, error) {
	if f.Sample <= 0 {
		return 0, nil
	}
	var lowest highestFirst
	for c, err := range all() {
		if err != nil {
			return 0, err
		}
		if !f.picks(&c) {
			continue
		}
		if heap.Push(&lowest, f.chance(c.ID)); len(lowest) > f.Sample {
			heap.Pop(&lowest)
		}
	}
	if len(lowest) == 0 {
		return 0, nil
	}
	return lowest[0], nil
}

// chance returns a pseudorandom number that depends only on the id and the seed, so that adding a case to a
// dataset changes a sample little.
func (f Filter) chance(id string) uint64 {
	return hash("sample", strconv.FormatInt(f.Seed, 10), id)
}

func (f Filter) inShard(id string) bool {
	return f.Shards <= 1 || hash("shard", id)%uint64(f.Shards) == uint64(f.Shard-1)
}

func hash(parts ...string) uint64 {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return binary.BigEndian.Uint64(sum[:])
}

// String describes the filter; "" selects all.
func (f Filter) String() string {
	var out []string
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(len(f.Tags) > 0, "tagged %s", strings.Join(f.Tags, " or "))
	if f.Match != nil {
		add(true, "ids like %s", f.Match)
	}
	add(f.Only != nil, "%s", f.Why)
	add(f.Sample > 0, "%d by chance (seed %d)", f.Sample, f.Seed)
	add(f.First > 0, "the first %d", f.First)
	add(f.Shards > 1, "shard %d of %d", f.Shard, f.Shards)
	return strings.Join(out, ", ")
}

// highestFirst is a max heap.
type highestFirst []uint64

func (h highestFirst) Len() int           { return len(h) }
func (h highestFirst) Less(i, j int) bool { return h[i] > h[j] }
func (h highestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *highestFirst) Push(x any)        { *h = append(*h, x.(uint64)) }
func (h *highestFirst) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
