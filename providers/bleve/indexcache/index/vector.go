package index

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
)

const (
	// rankOffset is the k of reciprocal rank fusion; Cormack, Clarke and Büttcher (SIGIR
	// 2009) recommend 60.
	rankOffset = 60

	maxLoad = 1000 // passages whose vectors are read at once
)

// Vectors caches the vectors of files read from an index. They remain valid when the
// index is reopened. The zero value is ready for use.
type Vectors struct{ files map[string]cachedVectors }

type cachedVectors struct {
	size, modified int64
	numbers        []float32 // of all its passages, concatenated
}

// Similar returns the n passages with vectors most similar to v, which must have length
// 1, best first. It ignores files with other dimensions.
func (x *Index) Similar(ctx context.Context, known *Vectors, v []float32, n int) ([]Hit, error) {
	if len(v) == 0 {
		return nil, nil
	}
	if err := x.refreshVectors(ctx, known, len(v)); err != nil {
		return nil, err
	}
	var hits []Hit
	for path, k := range known.files {
		for i := 0; i < len(k.numbers)/len(v); i++ {
			if s := dot(k.numbers[i*len(v):(i+1)*len(v)], v); s > 0 {
				hits = append(hits, Hit{File: x.files[path], Score: s, id: id(path, i)})
			}
		}
	}
	hits = topHits(hits, n)
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

// refreshVectors makes known hold the vectors of exactly the files with that many
// dimensions.
func (x *Index) refreshVectors(ctx context.Context, known *Vectors, dimensions int) error {
	now := make(map[string]cachedVectors, len(known.files))
	var missing []string
	for _, path := range slices.Sorted(maps.Keys(x.files)) {
		f := x.files[path]
		if f.Passages == 0 || f.Dimensions != dimensions {
			continue
		}
		k, ok := known.files[path]
		if !ok || k.size != f.Size || k.modified != f.Modified || len(k.numbers) != f.Passages*dimensions {
			k = cachedVectors{f.Size, f.Modified, make([]float32, 0, f.Passages*dimensions)}
			for i := range f.Passages {
				missing = append(missing, id(path, i))
			}
		}
		now[path] = k
	}
	for part := range slices.Chunk(missing, maxLoad) {
		if err := x.loadVectors(ctx, part, now, dimensions); err != nil {
			return err
		}
	}
	known.files = now
	return nil
}

// loadVectors reads the vectors of passages given in order of their ids.
func (x *Index) loadVectors(ctx context.Context, ids []string, into map[string]cachedVectors, dimensions int) error {
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
				return fmt.Errorf("%w: invalid vector of a passage", ErrBroken)
			}
			k := into[pathOf(id)]
			k.numbers = appendVector(k.numbers, texts[id])
			into[pathOf(id)] = k
		}
		return nil
	})
}

// Unit normalizes a vector to length 1. A zero vector stays as it is.
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

// Fuse merges two lists of hits by reciprocal rank: each contributes 1/(60+rank), times
// weight for the second list and 1-weight for the first.
func Fuse(words, similar []Hit, weight float64, n int) []Hit {
	fused := map[string]Hit{}
	add := func(hits []Hit, weight float64) {
		for i, h := range hits {
			h.Score = fused[h.id].Score + weight/float64(rankOffset+i+1)
			fused[h.id] = h
		}
	}
	add(words, 1-weight)
	add(similar, weight)
	hits := make([]Hit, 0, len(fused))
	for _, h := range fused {
		if h.Score > 0 {
			hits = append(hits, h)
		}
	}
	return topHits(hits, n)
}
