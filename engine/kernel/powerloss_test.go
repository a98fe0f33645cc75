package kernel_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pexctl/pex/engine/disktest"
	"github.com/pexctl/pex/engine/journal"
)

// Power is lost at every point of 20 runs: what was acknowledged is still there, no write
// is repeated, and the run ends with the same answer. With other durabilities than sync a
// run may lose its end, but its home stays intact. PEX_TEST_POWER_LOSSES says how many runs.
func TestAPowerLossAtEveryPoint(t *testing.T) {
	runs := 20
	if testing.Short() {
		runs = 4
	}
	if n, err := strconv.Atoi(os.Getenv("PEX_TEST_POWER_LOSSES")); err == nil {
		runs = n
	}
	for name, mode := range map[string]struct {
		journal.Durability
		shared bool // the syncs, by a commit log
		runs   int
	}{
		"sync":   {journal.Sync, false, runs},
		"shared": {journal.Sync, true, runs / 2},
		"exit":   {journal.Exit, false, runs / 4},
		"async":  {journal.Async, false, runs / 4},
	} {
		t.Run(name, func(t *testing.T) {
			base, points, runs := t.TempDir(), 0, mode.runs
			kinds := map[journal.Kind]int{}
			for seed := range runs {
				synctest.Test(t, func(t *testing.T) {
					points += loseEverywhere(t, base, mode.Durability, mode.shared, uint64(seed), kinds)
				})
			}
			t.Logf("%d runs, %d points", runs, points)
			if want := int(journal.Answer); len(kinds) != want && runs >= 5 {
				t.Errorf("the runs have records of %d kinds, want %d: %v", len(kinds), want, kinds)
			}
		})
	}
}

// loseEverywhere executes a run and loses power at every point of it. Then it kills the
// run, or loses power, at one of the points, and does the same with the rest of the run.
func loseEverywhere(t *testing.T, base string, d journal.Durability, shared bool, seed uint64, kinds map[journal.Kind]int) (points int) {
	rng := rand.New(rand.NewPCG(seed, 2))
	dir, err := os.MkdirTemp(base, "run-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l := &life{
		t: t, dir: filepath.Join(dir, "home"), durability: d, shared: shared, rng: rng, scratch: filepath.Join(dir, "after"),
		agent: lossy{newOutside(t, seed, seed%3 == 2), 1 + rng.IntN(11)}, start: fmt.Sprintf(`"seed %d"`, seed),
	}
	for _, made := range []string{l.dir, l.scratch} {
		if err := os.Mkdir(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	disktest.Skip(t, l.scratch)
	l.want = l.reference()
	for n := range 2 + rng.IntN(2) {
		l.execute()
		for i := range l.points {
			l.label = fmt.Sprintf("run %d, life %d, killed %v, point %d of %d", seed, n+1, l.killed != nil, i+1, len(l.points))
			if i == 0 || !l.points[i].sameAfterLoss(&l.points[i-1]) {
				l.lose(&l.points[i], "synced", onlySynced)
			}
			l.lose(&l.points[i], "partly", l.partlySynced())
			if t.Failed() {
				return 0
			}
		}
		points += len(l.points)
		for i := range l.recs {
			kinds[l.recs[i].Kind]++
		}
		at := rng.IntN(len(l.points))
		if rng.IntN(3) == 0 {
			at = l.ended()
		}
		l = l.after(&l.points[at])
	}
	return points
}

// onlySynced keeps what is durable of the journal, and all of the index, which is never
// synced and must not claim more.
func onlySynced(f disktest.File) []byte {
	if filepath.Base(f.Path) == "_index" {
		return disktest.Written(f)
	}
	return disktest.Durable(f)
}

// partlySynced keeps a part of what was written later, too, and a part of the index. With
// a commit log, that is any pages.
func (l *life) partlySynced() disktest.Choice {
	r, partly := l.rng, disktest.Partly(l.rng)
	if l.shared {
		partly = disktest.Pages(r, 512)
	}
	return func(f disktest.File) []byte {
		if filepath.Base(f.Path) == "_index" && r.IntN(2) == 0 {
			return disktest.Written(f)
		}
		return partly(f)
	}
}

// lose loses power at a point, and resumes the run.
func (l *life) lose(p *point, label string, keep disktest.Choice) {
	t := l.t
	t.Helper()
	dir, err := os.MkdirTemp(l.scratch, "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := p.image.Write(dir, keep); err != nil {
		t.Fatal(err)
	}
	h, err := openHome(dir, l.durability, l.shared)
	if err != nil {
		t.Errorf("%s, %s: %v", l.label, label, err)
		return
	}
	recs, err := h.Read("r")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s, %s: %v", l.label, label, err)
		return
	}
	if problem := p.compare(recs, l.durability); problem != "" {
		t.Errorf("%s, %s: %s: %d of %d records, of which %d were acknowledged", l.label, label, problem, len(recs), len(p.recs), p.durable)
		return
	}
	rest := &life{t: t, dir: dir, durability: l.durability, shared: l.shared, rng: l.rng, start: l.start, agent: lossy{p.world.clone(), l.agent.steps}}
	if l.durability != journal.Sync { // the intents of writes may be lost
		rest.agent.w.performed = map[string]string{}
	}
	rest.finish()
	switch cancelled := slices.ContainsFunc(recs, func(r journal.Record) bool { return r.Kind == journal.Cancel }); {
	case len(recs) > 0 && recs[len(recs)-1].Kind == journal.End:
		if rest.final != l.final {
			t.Errorf("%s, %s: the run ends with %q, and has ended with %q", l.label, label, rest.final, l.final)
		}
	case p.world.nonce, cancelled: // it depends on when
	case rest.final != l.want:
		t.Errorf("%s, %s: the run ends with %q, want %q", l.label, label, rest.final, l.want)
	}
}

// compare returns what a power loss must not have done to the records.
func (p *point) compare(recs []journal.Record, d journal.Durability) string {
	if len(recs) < p.durable {
		return "lost acknowledged records"
	}
	if len(recs) > len(p.recs) {
		return "has records that were not appended"
	}
	for i := range recs {
		if got, want := recs[i], p.recs[i]; got.Kind != want.Kind || got.Path != want.Path || got.Status != want.Status {
			return fmt.Sprintf("record %d is another one", i+1)
		}
	}
	if d != journal.Sync {
		return ""
	}
	has := func(a ack) bool {
		for i := range recs {
			if recs[i].Kind == a.kind && recs[i].Path == a.path {
				return true
			}
		}
		return false
	}
	for _, a := range p.world.acked {
		if !has(a) {
			return fmt.Sprintf("lost a record of kind %d at %s", a.kind, a.path)
		}
	}
	for key := range p.world.performed {
		if path := strings.TrimPrefix(key, "r/"); !has(ack{journal.Intent, path}) {
			return "lost the intent of " + path
		}
	}
	return ""
}
