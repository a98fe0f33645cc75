package render

// History is how many earlier steps a prompt shows in full: a limit of the spec.
//
// Up to that many, all are shown. In a longer run only the newest tenth to two
// tenths of the limit are, and the first one shown moves several steps at a
// time: consecutive prompts begin alike, and providers can cache them. A limit
// below 5 always shows as many.
type History int

// First is the index of the first of n steps that is shown.
func (h History) First(n int) int {
	limit := max(int(h), 0)
	if n <= limit {
		return 0
	}
	if limit < 5 {
		return n - limit
	}
	least := max(1, limit/10)
	stride := max(1, 2*limit/10-least+1)
	return n - least - (n-limit-1)%stride
}
