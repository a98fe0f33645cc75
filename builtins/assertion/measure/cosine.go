package measure

import "math"

// Cosine returns the cosine of the angle between two vectors, 0 if either is zero or
// their lengths differ.
func Cosine(a, b []float64) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, x, y float64
	for i := range a {
		dot += a[i] * b[i]
		x += a[i] * a[i]
		y += b[i] * b[i]
	}
	if x == 0 || y == 0 {
		return 0
	}
	return max(-1, min(1, dot/(math.Sqrt(x)*math.Sqrt(y))))
}
