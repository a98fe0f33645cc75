package index

import (
	"context"
	"fmt"
	"math"
)

// rankOffset is the k of reciprocal rank fusion; Cormack, Clarke and Büttcher (SIGIR
// 2009) recommend 60.
const rankOffset = 60

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
				hits = append(hits, Hit{File: x.files[path], Score: s, number: i})
			}
		}
	}
	hits = topHits(hits, n)
	for i := range hits {
		if err := x.locate(&hits[i]); err != nil {
			return nil, err
		}
	}
	return hits, nil
}

// refreshVectors makes known hold the vectors of exactly the files with that many
// dimensions.
func (x *Index) refreshVectors(ctx context.Context, known *Vectors, dimensions int) error {
	now := make(map[string]cachedVectors, len(known.files))
	for path, f := range x.files {
		if f.Passages == 0 || f.Dimensions != dimensions {
			continue
		}
		k, ok := known.files[path]
		if !ok || k.size != f.Size || k.modified != f.Modified || len(k.numbers) != f.Passages*dimensions {
			if err := ctx.Err(); err != nil {
				return err
			}
			numbers, err := x.vectorsOf(path)
			if err == nil && len(numbers) != f.Passages*dimensions {
				err = fmt.Errorf("%s has %d numbers in its vectors instead of %d", path, len(numbers), f.Passages*dimensions)
			}
			if err != nil {
				return broken(err)
			}
			k = cachedVectors{f.Size, f.Modified, numbers}
		}
		now[path] = k
	}
	known.files = now
	return nil
}

// vectorsOf reads the vectors of a file.
func (x *Index) vectorsOf(path string) ([]float32, error) {
	at, ok := x.newest[path]
	if !ok {
		return nil, nil
	}
	if err := x.loadVectors(at.segment); err != nil {
		return nil, err
	}
	return at.segment.vectorsOf(at.path)
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
	type name struct {
		path   string
		number int
	}
	fused := map[name]Hit{}
	add := func(hits []Hit, weight float64) {
		for i, h := range hits {
			at := name{h.File.Path, h.number}
			h.Score = fused[at].Score + weight/float64(rankOffset+i+1)
			fused[at] = h
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
