package measure_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/assertion/measure"
)

func words(t testing.TB, text string) []string {
	t.Helper()
	out, cut := measure.Words(text)
	if cut {
		t.Fatal("cut")
	}
	return out
}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.0005 {
		t.Errorf("%s = %.4f, want %.4f", name, got, want)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"The cat's out-of-date: 3.14!", []string{"the", "cat", "s", "out", "of", "date", "3", "14"}},
		{"Größe – ÉTÉ 日本語", []string{"größe", "été", "日本語"}},
		{"cafe\u0301 au lait", []string{"cafe\u0301", "au", "lait"}},
		{" \n", []string{}},
	} {
		if diff := cmp.Diff(c.want, words(t, c.text)); diff != "" {
			t.Error(diff)
		}
	}
}

// The first example is from Lin (2004), section 3.1; the others are test values of
// Google's rouge_score.
func TestRougeMatchesPublishedValues(t *testing.T) {
	const gunman = "police killed the gunman"
	for _, c := range []struct {
		reference, answer string
		one, two, l       float64
	}{
		{gunman, "police kill the gunman", 0.75, 1. / 3, 0.75},
		{gunman, "the gunman kill police", 0.75, 1. / 3, 0.5},
		{gunman, "the gunman police killed", 1, 2. / 3, 0.5},
		{"testing one two", "testing", 0.5, 0, 0.5},
		{"testing one two", "testing one", 0.8, 2. / 3, 0.8},
		{"testing one two", "testing two", 0.8, 0, 0.8},
		{"testing one two", "", 0, 0, 0},
		{"", "w1", 0, 0, 0},
		{"1 2 3 4 5", "2 5 3 4", 8. / 9, 2. / 7, 6. / 9},
		{"w1 w2 w3 w4 w5", "/", 0, 0, 0},
		{"the the the", "the", 0.5, 0, 0.5},
	} {
		want, got := words(t, c.reference), words(t, c.answer)
		near(t, "ROUGE-1 of "+c.answer, measure.RougeN(1, want, got), c.one)
		near(t, "ROUGE-2 of "+c.answer, measure.RougeN(2, want, got), c.two)
		near(t, "ROUGE-L of "+c.answer, measure.RougeL(want, got), c.l)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"kitten", "sitting", 3},
		{"Saturday", "Sunday", 3},
		{"intention", "execution", 5},
		{"rosettacode", "raisethysword", 8},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"größe", "grosse", 3},
		{"日本語", "日本", 1},
		{strings.Repeat("a", 200), strings.Repeat("b", 130), 200},
		{strings.Repeat("ab", 100), strings.Repeat("ba", 100), 2},
	} {
		if got, exact := measure.Distance(c.a, c.b); got != c.want || !exact {
			t.Errorf("Distance(%.20q, %.20q) = %d (exact %v), want %d", c.a, c.b, got, exact, c.want)
		}
	}
}

// textbookDistance computes the distance with the textbook algorithm.
func textbookDistance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// textbookCommon computes the length of the longest common subsequence with the textbook
// algorithm.
func textbookCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if row[j+1] = max(above, row[j]); a[i] == b[j] {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// The fast algorithms return the same values as the textbook ones.
func TestFastMatchesTextbook(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		alphabet := 1 + r.IntN(6)
		text := func() string {
			var b strings.Builder
			for range r.IntN(300) {
				b.WriteByte(byte('a' + r.IntN(alphabet)))
			}
			return b.String()
		}
		a, b := text(), text()
		if got, _ := measure.Distance(a, b); got != textbookDistance([]rune(a), []rune(b)) {
			t.Fatalf("Distance(%q, %q) = %d, want %d", a, b, got, textbookDistance([]rune(a), []rune(b)))
		}
		x, y := strings.Split(a, ""), strings.Split(b, "")
		want := 0.0
		if n := textbookCommon(x, y); n > 0 {
			want = 2 * float64(n) / float64(len(x)+len(y))
		}
		if got := measure.RougeL(x, y); got != want {
			t.Fatalf("RougeL(%q, %q) = %f, want %f", a, b, got, want)
		}
	}
}

func TestLongTextsAreLimited(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteByte(byte('a' + r.IntN(3)))
			if r.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		return b.String()
	}
	a, b := text(1<<20), text(1<<20)
	if n, exact := measure.Distance(a, b); exact || n != max(len(a)-len(b), len(b)-len(a), 1) {
		t.Errorf("texts of 1 MB: %d, exact %v", n, exact)
	}
	if n, exact := measure.Distance(a, a+"x"); n != 1 || !exact {
		t.Errorf("common prefixes: %d, exact %v", n, exact)
	}
	if _, exact := measure.Distance(a[:9_000], b[:9_000]); !exact {
		t.Error("9,000 letters are not too many")
	}
	x, cut := measure.Words(a)
	y, _ := measure.Words(b)
	if !cut || len(x) != measure.MaxWords {
		t.Errorf("%d words, cut %v", len(x), cut)
	}
	if f := measure.RougeL(x[:3000], y[:3000]); f <= 0 || f >= 1 {
		t.Errorf("RougeL = %f", f)
	}
}

func TestCosine(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"same direction", []float64{1, 2}, []float64{2, 4}, 1},
		{"across", []float64{1, 0}, []float64{0, 1}, 0},
		{"opposite", []float64{1, 0}, []float64{-3, 0}, -1},
		{"no direction", []float64{0, 0}, []float64{1, 0}, 0},
		{"other length", []float64{1}, []float64{1, 0}, 0},
	} {
		near(t, c.name, measure.Cosine(c.a, c.b), c.want)
	}
}

func BenchmarkDistance(b *testing.B) {
	x, y := strings.Repeat("abcdefghij", 1000), strings.Repeat("bacdefghji", 1000)
	for b.Loop() {
		measure.Distance(x, y)
	}
}
