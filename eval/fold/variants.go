package fold

import (
	"cmp"
	"slices"
)

// byVariant holds each variant against the baseline for itself, in the order of
// the manifest; nil where there is only one.
func (g *gathering) byVariant(pairs []pair, margin float64) []VariantChange {
	parts, order := map[uint16][]pair{}, []uint16(nil)
	for i := range pairs {
		v := g.at(int(g.order[pairs[i].order])).variant
		if parts[v] == nil {
			order = append(order, v)
		}
		parts[v] = append(parts[v], pairs[i])
	}
	if len(parts) < 2 {
		return nil
	}
	out := make([]VariantChange, 0, len(order))
	for _, v := range order {
		var c Comparison
		c.paired(parts[v])
		c.P = min(1, c.P*float64(len(order)))
		out = append(out, VariantChange{
			Variant: g.variants.list[v], Paired: c.Paired, Difference: c.Difference, CILow: c.CILow, CIHigh: c.CIHigh,
			P: c.P, Regressed: c.CILow <= -margin && c.CIHigh < 0 && c.P <= 0.05,
		})
	}
	return out
}

// worseVariant is the variant that lost most of those that surely lost, or nil.
// A drop that is surely within the margin is none.
func (c *Comparison) worseVariant() *VariantChange {
	i := slices.IndexFunc(c.ByVariant, func(v VariantChange) bool { return v.Regressed })
	if i < 0 {
		return nil
	}
	worst := slices.MinFunc(c.ByVariant, func(a, b VariantChange) int {
		return cmp.Compare(lost(a), lost(b))
	})
	return &worst
}

func lost(v VariantChange) float64 {
	if !v.Regressed {
		return 0
	}
	return v.Difference
}
