package runs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/runs"
)

func TestPagesHaveEachRunOnce(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	ids := []string{"r-1", "r-2", "r-3", "r-4", "r-5"}
	for _, id := range ids {
		w.finish(w.start(s, id))
	}
	var listed []string
	f := runs.Filter{Limit: 2}
	for range len(ids) {
		page, more, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page {
			listed = append(listed, page[i].Run)
		}
		if more == 0 {
			break
		}
		if f.After, err = runs.ParsePosition(page[len(page)-1].Position().String()); err != nil {
			t.Fatal(err)
		}
	}
	if len(listed) != len(ids) || listed[0] != "r-5" || listed[4] != "r-1" {
		t.Errorf("%v", listed)
	}
}

func TestListFilters(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	w.finish(w.start(s, "waits"))
	w.node = answers
	w.finish(w.start(s, "done"))
	list, _, err := s.List(t.Context(), runs.Filter{})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	second := list[0].StartedAt
	for name, c := range map[string]struct {
		filter runs.Filter
		want   string
	}{
		"waiting":      {runs.Filter{Waiting: true}, "waits"},
		"since":        {runs.Filter{Since: second}, "done"},
		"until":        {runs.Filter{Until: second}, "waits"},
		"conversation": {runs.Filter{MemoryID: "other"}, ""},
		"match":        {runs.Filter{Match: func(s runs.Summary) bool { return s.Run == "done" }}, "done"},
		"later":        {runs.Filter{Since: second.Add(time.Hour)}, ""},
	} {
		list, _, err := s.List(t.Context(), c.filter)
		got := ""
		for i := range list {
			got += list[i].Run
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// The summaries of ended runs are cached, but a run that is deleted and started again is
// another one.
func TestListSeesARunThatIsStartedAgain(t *testing.T) {
	w := newWorld(t, answers)
	s := w.open()
	w.finish(w.start(s, "r-1"))
	before, _, err := s.List(t.Context(), runs.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.open().Remove("r-1"); err != nil {
		t.Fatal(err)
	}
	if list, _, err := s.List(t.Context(), runs.Filter{}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	w.finish(w.start(w.open(), "r-1"))
	after, _, err := s.List(t.Context(), runs.Filter{})
	if err != nil || len(after) != 1 || after[0].StartedAt.Equal(before[0].StartedAt) {
		t.Errorf("%v, %v", after, err)
	}
}

func TestParsePositionRejectsOtherTexts(t *testing.T) {
	for _, s := range []string{"x", ".", "!.r-1", "99999999999999999999.r"} {
		if p, err := runs.ParsePosition(s); err == nil {
			t.Errorf("%q: %v", s, p)
		}
	}
}

// settle makes the last change of the list of runs older.
func (w *world) settle(at time.Time) {
	w.t.Helper()
	for _, file := range []string{"runs", "runs/_index"} {
		if err := os.Chtimes(filepath.Join(w.dir, file), at, at); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestSummariesFollowTheHome(t *testing.T) {
	w := newWorld(t, approved)
	s := w.open()
	past := time.Now().Add(-time.Hour)
	check := func(when string, want ...string) {
		t.Helper()
		for range 3 { // from the files, and from memory
			past = past.Add(time.Minute)
			w.settle(past)
			for range 2 {
				all, err := s.Summaries(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, sum := range all {
					got = append(got, sum.Run+" "+string(sum.Status))
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q", when, got)
				}
				open, err := s.Unfinished()
				if err != nil || len(open) != strings.Count(strings.Join(want, " "), "interrupted") {
					t.Errorf("%s: unfinished %q, %v", when, open, err)
				}
			}
		}
	}
	w.finish(w.start(s, "waits"))
	check("one waits", "waits interrupted")
	w.finish(w.start(s, "zz"))
	w.node = answers
	w.finish(w.start(s, "done"))
	check("one more", "done completed", "waits interrupted", "zz interrupted")
	if err := s.Remove("done"); err != nil {
		t.Fatal(err)
	}
	check("one was removed", "waits interrupted", "zz interrupted")
}
