package runs

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

// artifactAge is how long an artifact that no run uses is kept: a client uploads it before
// it starts the run.
const artifactAge = 24 * time.Hour

// SweepArtifacts removes the artifacts of the home in dir that no run uses, apart from the
// runs in without, and that were uploaded or last used for a new run more than a day ago.
// It returns their number and size. If the start of a run cannot be read, it removes none.
// With dryRun it removes nothing.
func SweepArtifacts(home *journal.Home, dir string, without []string, dryRun bool) (removed int, freed int64, err error) {
	if isEmpty, err := artifact.IsEmpty(dir); err != nil || isEmpty {
		return 0, 0, err
	}
	before := time.Now().Add(-artifactAge)
	ids, err := home.List()
	if err != nil {
		return 0, 0, err
	}
	used := map[string]bool{}
	for _, id := range ids {
		if slices.Contains(without, id) {
			continue
		}
		recs, err := home.Read(id) // the records before any damage suffice
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		start, err := runtime.ReadStart(recs)
		if err != nil {
			return 0, 0, nil //nolint:nilerr // the journal is damaged
		}
		for _, digest := range start.Input.Artifacts {
			used[digest] = true
		}
	}
	return artifact.Sweep(dir, used, before, dryRun)
}

// SweepArtifacts removes the artifacts that no run uses; see the function.
func (s *Service) SweepArtifacts() (removed int, err error) {
	removed, _, err = SweepArtifacts(s.home, s.dir, nil, false)
	return removed, err
}
