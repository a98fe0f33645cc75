package main

import "strings"

// nearest is the one of the names that was probably meant: a beginning of one
// name only, or the fewest letters away; "" = none is near.
func nearest(name string, names []string) string {
	var found string
	var begin []string
	best := 1 + len(name)/3
	for _, n := range names {
		if name != "" && strings.HasPrefix(n, name) {
			begin = append(begin, n)
		}
		if d := distance(strings.ToLower(name), n); d <= best && (found == "" || d < best) {
			best, found = d, n
		}
	}
	if len(begin) == 1 {
		return begin[0]
	}
	return found
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to make one word of another.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
