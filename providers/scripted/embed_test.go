package scripted_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/scripted"
)

func TestVectorsCountWords(t *testing.T) {
	m, err := scripted.New(&scripted.Config{}, model.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	e := m.(model.Embedder)
	got, used, err := e.Embed(t.Context(), []string{"The cat sat", "the CAT, sat!", "the cat ran", "wholly other words", ""})
	if err != nil {
		t.Fatal(err)
	}
	dot := func(i, j int) (sum float64) {
		for k := range got[i] {
			sum += got[i][k] * got[j][k]
		}
		return math.Round(sum*1000) / 1000
	}
	if diff := cmp.Diff([]float64{1, 1, 0.667, 0, 0}, []float64{dot(0, 0), dot(0, 1), dot(0, 2), dot(0, 3), dot(4, 4)}); diff != "" {
		t.Error(diff)
	}
	if used.Input != 3+4+3+5 || used.Output != 0 {
		t.Errorf("used %+v", used)
	}
	again, _, err := e.Embed(t.Context(), []string{"The cat sat"})
	if diff := cmp.Diff(got[:1], again); diff != "" || err != nil {
		t.Errorf("another time: %v %s", err, diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := e.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
