package index

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
)

const (
	// rankOffset is k of reciprocal rank fusion: Cormack, Clarke and Büttcher
	// (SIGIR 2009) found 60 to serve.
	rankOffset = 60

	maxLoad = 1000 // passages whose vectors are read at once
)

// Vectors are the vectors of files as they were read from an index. They stay
// right from one opening of the index to the next; the zero value is ready.
type Vectors struct{ of map[string]held }

type held struct {
	size, modified int64
	numbers        []float32 // those of its passages, one behind the other
}

// Like finds the n passages whose vectors are most like one of length 1, best
// first. Files whose vectors have another number of dimensions are not looked at.
func (x *Index) Like(ctx context.Context, known *Vectors, v []float32, n int) ([]Hit, error) {
	if len(v) == 0 {
		return nil, nil
	}
	if err := x.read(ctx, known, len(v)); err != nil {
		return nil, err
	}
	var hits []Hit
	for path, k := range known.of {
		for i := 0; i < len(k.numbers)/len(v); i++ {
			if s := dot(k.numbers[i*len(v):(i+1)*len(v)], v); s > 0 {
				hits = append(hits, Hit{File: x.files[path], Score: s, id: id(path, i)})
			}
		}
	}
	hits = first(hits, n)
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.id
	}
	places, err := x.places(ctx, ids)
	for i, h := range hits {
		hits[i].Place = places[h.id]
	}
	return hits, err
}

// read makes known hold the vectors of all files that have some of that many
// dimensions, and no others.
func (x *Index) read(ctx context.Context, known *Vectors, dimensions int) error {
	now := make(map[string]held, len(known.of))
	var missing []string
	for _, path := range slices.Sorted(maps.Keys(x.files)) {
		f := x.files[path]
		if f.Passages == 0 || f.Dimensions != dimensions {
			continue
		}
		k, ok := known.of[path]
		if !ok || k.size != f.Size || k.modified != f.Modified || len(k.numbers) != f.Passages*dimensions {
			k = held{f.Size, f.Modified, make([]float32, 0, f.Passages*dimensions)}
			for i := range f.Passages {
				missing = append(missing, id(path, i))
			}
		}
		now[path] = k
	}
	for part := range slices.Chunk(missing, maxLoad) {
		if err := x.stored(ctx, part, now, dimensions); err != nil {
			return err
		}
	}
	known.of = now
	return nil
}

// stored reads the vectors of passages, which are in the order of their ids.
func (x *Index) stored(ctx context.Context, ids []string, into map[string]held, dimensions int) error {
	r := x.byID(ids)
	r.Fields = []string{vectorField}
	return x.do(func() error {
		found, err := x.bleve.SearchInContext(ctx, r)
		if err != nil {
			return err
		}
		texts := make(map[string]string, len(found.Hits))
		for _, d := range found.Hits {
			texts[d.ID], _ = d.Fields[vectorField].(string)
		}
		for _, id := range ids {
			if len(texts[id]) != 4*dimensions {
				return fmt.Errorf("%w: a vector", ErrBroken)
			}
			k := into[pathOf(id)]
			k.numbers = unpacked(k.numbers, texts[id])
			into[pathOf(id)] = k
		}
		return nil
	})
}

// Unit gives a vector the length 1, as the vectors of passages have. One that
// has no direction stays as it is.
func Unit(v []float64) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	out := make([]float32, len(v))
	for i, x := range v {
		if out[i] = float32(x); sum > 0 {
			out[i] = float32(x / math.Sqrt(sum))
		}
	}
	return out
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// Fuse joins two lists of hits by the places that a passage has in them:
// 1/(60+place), the second list's with its weight, the first one's with the
// rest of 1.
func Fuse(words, like []Hit, weight float64, n int) []Hit {
	fused := map[string]Hit{}
	add := func(hits []Hit, weight float64) {
		for i, h := range hits {
			h.Score = fused[h.id].Score + weight/float64(rankOffset+i+1)
			fused[h.id] = h
		}
	}
	add(words, 1-weight)
	add(like, weight)
	hits := make([]Hit, 0, len(fused))
	for _, h := range fused {
		if h.Score > 0 {
			hits = append(hits, h)
		}
	}
	return first(hits, n)
}
