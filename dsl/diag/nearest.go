package diag

import (
	"slices"
	"strings"
)

// Suggest returns advice for a misspelled word: the nearest candidate, or else
// all candidates if they are few.
func Suggest(word string, candidates []string) Advice {
	const short = 12
	names := "none are defined"
	switch n := len(candidates); {
	case n > short:
		names = "use one of: " + strings.Join(slices.Sorted(slices.Values(candidates))[:short], ", ") + ", …"
	case n > 1:
		names = "use one of: " + strings.Join(candidates, ", ")
	case n == 1:
		names = "the only valid value is " + candidates[0]
	}
	near := Nearest(word, candidates)
	switch n := len(candidates); {
	case near == "":
		return Advice{Hint: names}
	case n == 1 || n > short:
		return DidYouMean(word, near, "")
	default:
		return DidYouMean(word, near, "choices: "+strings.Join(candidates, ", "))
	}
}

// SuggestNear returns advice for a misspelled word: the nearest candidate, or
// otherwise if there is none.
func SuggestNear(word string, candidates []string, otherwise string) Advice {
	if near := Nearest(word, candidates); near != "" {
		return DidYouMean(word, near, "")
	}
	return Advice{Hint: otherwise}
}

// Nearest returns the candidate that a misspelled word most likely means, or ""
// if none is near. It ignores case, - and _. Of equally near candidates it
// returns the first. If none is near, it returns the only candidate that starts
// or ends with the word: api_key_env for api_key, calculator for calc.
func Nearest(word string, candidates []string) string {
	const longest = 100
	if len(word) > longest {
		return ""
	}
	w := bare(word)
	best, limit := "", max(1, len(w)/3)+1
	for _, c := range candidates {
		f := bare(c)
		if f == w {
			return c
		}
		if n := len(f) - len(w); len(w) < 3 || n >= limit || -n >= limit {
			continue
		}
		if d := edits(w, f); d < limit {
			best, limit = c, d
		}
	}
	if best == "" && len(w) > 2 {
		best = onlyLonger(word, candidates)
	}
	return best
}

// onlyLonger returns the only candidate that starts or ends with a word and an
// underscore, or else the only one that a longer word is a prefix of. It returns
// "" if there are none or several.
func onlyLonger(word string, candidates []string) string {
	found := only(candidates, func(c string) bool { return strings.HasPrefix(c, word+"_") || strings.HasSuffix(c, "_"+word) })
	if found == "" && len(word) > 3 {
		found = only(candidates, func(c string) bool { return strings.HasPrefix(c, word) })
	}
	return found
}

// only returns the only candidate that fits, or "" if there are none or several.
func only(candidates []string, fits func(string) bool) string {
	found := ""
	for _, c := range candidates {
		if !fits(c) {
			continue
		}
		if found != "" {
			return ""
		}
		found = c
	}
	return found
}

// joiners removes the separators that are confused most often.
var joiners = strings.NewReplacer("-", "", "_", "")

func bare(s string) string { return strings.ToLower(joiners.Replace(s)) }

// edits returns the edit distance of two words, where swapping two neighbors
// counts as one edit.
func edits(a, b string) int {
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
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
