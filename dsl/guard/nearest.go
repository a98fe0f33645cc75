package guard

// nearest is the candidate that a misspelt word most likely stands for; "" =
// none is near. Of equally near ones the first is taken.
func nearest(word string, candidates []string) string {
	best, limit := "", max(1, len(word)/3)+1
	if len(word) < 3 || len(word) > 100 {
		return ""
	}
	for _, c := range candidates {
		if n := len(c) - len(word); n >= limit || -n >= limit {
			continue
		}
		if d := distance(word, c); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// distance counts the edits between two words: a byte more, less, another, or
// two swapped.
func distance(a, b string) int {
	var before, last, row []int
	last = make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row = make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
