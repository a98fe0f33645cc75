package fold_test

import (
	"testing"

	"github.com/pexctl/pex/eval/fold"
	"github.com/pexctl/pex/eval/trial"
)

func TestMissingTrialsAreThoseOfEachVariantAndRepeat(t *testing.T) {
	rows := func() []*trial.Row {
		return numbered([]*trial.Row{row("a", "x", 1, true), row("b", "x", 1, true), row("c", "x", 1, true)})
	}
	for _, c := range []struct {
		repeat   int
		variants []string
		missing  int
	}{
		{3, []string{"x", "y"}, 3*2*3 - 3},
		{3, []string{"x"}, 3*3 - 3},
		{1, []string{"x", "y"}, 2*3 - 3},
		{0, []string{"x"}, 0},
		{1, []string{"x"}, 0},
	} {
		if got := foldRows(t, rows(), manifest(c.repeat, c.variants...), fold.Options{}).Missing; got != c.missing {
			t.Errorf("repeat %d, variants %q: %d missing, want %d", c.repeat, c.variants, got, c.missing)
		}
	}
}
