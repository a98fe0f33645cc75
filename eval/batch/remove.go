package batch

import (
	"path/filepath"

	"github.com/pexctl/pex/engine/journal"
)

// Remove deletes the evaluation in dir for good. The error is a
// *journal.HeldError when it is under way.
func Remove(dir string) error { return journal.RemovePool(filepath.Join(dir, trialsFile)) }

// Holder says whether the evaluation in dir is under way, and in which process;
// pid is 0 when it is not known.
func Holder(dir string) (pid int, yes bool) {
	return journal.PoolHolder(filepath.Join(dir, trialsFile))
}
