package runs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// Sessions share a home, so what one of them closes is not used by others.
func TestManySessionsOfOneServiceAtOnce(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 5 {
				session := w.start(s, fmt.Sprintf("r-%d-%d", i, j))
				res := session.Run(t.Context(), runs.Observer{})
				if err := session.Close(); err != nil || res.Status != stop.RunCompleted {
					t.Errorf("%s, %v", res.Status, err)
				}
			}
		})
	}
	all.Wait()
	if sums := summaries(t, w.open()); len(sums) != 40 {
		t.Errorf("%d runs are listed", len(sums))
	}
}

func TestAHomeThatWasDeletedIsCreatedAgain(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	if err := os.RemoveAll(filepath.Join(w.dir, "runs")); err != nil {
		t.Fatal(err)
	}
	if res := w.finish(w.start(s, "r-2")); res.Status != stop.RunCompleted {
		t.Error(res.Status)
	}
	if sums := summaries(t, s); len(sums) != 1 || sums[0].Run != "r-2" {
		t.Errorf("%+v", sums)
	}
}

func summaries(t *testing.T, s *runs.Service) []runs.Summary {
	t.Helper()
	all, _, err := s.List(t.Context(), runs.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
