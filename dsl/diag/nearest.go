package diag

import (
	"slices"
	"strings"
)

// Suggest is the advice for a misspelled word: the nearest candidate, and the
// list of all candidates while it is short.
func Suggest(word string, candidates []string) Advice {
	const short = 12
	names := "none are defined"
	switch n := len(candidates); {
	case n > short:
		names = "use one of: " + strings.Join(slices.Sorted(slices.Values(candidates))[:short], ", ") + ", …"
	case n > 1:
		names = "use one of: " + strings.Join(candidates, ", ")
	case n == 1:
		names = "the only choice is " + candidates[0]
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

// SuggestNear is the advice for a misspelled word: the nearest candidate, or
// otherwise where there is none.
func SuggestNear(word string, candidates []string, otherwise string) Advice {
	if near := Nearest(word, candidates); near != "" {
		return DidYouMean(word, near, "")
	}
	return Advice{Hint: otherwise}
}

// Nearest is the candidate that a misspelt word most likely stands for, for a
// hint; "" = none is near. Case, - and _ make no difference. Of equally near
// ones the first is taken; without one, the only candidate that begins or ends
// with the word: api_key_env for api_key, calculator for calc.
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
		best = longer(word, candidates)
	}
	return best
}

// longer is the one candidate that begins or ends with a word and an underscore,
// else the one that a word of some length is the begin of; "" = none, or several.
func longer(word string, candidates []string) string {
	found := only(candidates, func(c string) bool { return strings.HasPrefix(c, word+"_") || strings.HasSuffix(c, "_"+word) })
	if found == "" && len(word) > 3 {
		found = only(candidates, func(c string) bool { return strings.HasPrefix(c, word) })
	}
	return found
}

// only is the one candidate that fits; "" = none, or several.
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

// joiners are what people mistake most between the parts of a name.
var joiners = strings.NewReplacer("-", "", "_", "")

func bare(s string) string { return strings.ToLower(joiners.Replace(s)) }

// edits counts what makes one word of another: a byte more, less or changed,
// or two neighbours swapped.
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
