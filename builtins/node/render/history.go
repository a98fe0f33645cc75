package render

// History is the number of earlier steps that a prompt shows in full, a limit in the
// spec.
//
// Up to that many steps, all are shown. In longer runs, only the newest 10 to 20 percent
// of the limit are shown, and the first one shown advances several steps at a time, so
// that consecutive prompts share a prefix that providers can cache. A limit below 5
// always shows that many steps.
type History int

// First returns the index of the first of n steps to show.
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
