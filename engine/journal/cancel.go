package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// cancelName is the file that holds the decision to cancel a run: a process
// leaves it there for the one that runs the run.
const cancelName = "cancel"

// RequestCancel leaves the decision to cancel a run for whoever runs it; who
// says who decided, as JSON on one line.
func (h *Home) RequestCancel(run string, who []byte) error {
	return h.replace(filepath.Join(h.Folder(run), cancelName), append(who, '\n'), false)
}

// CancelRequested says whether a run is to be cancelled, and who decided it.
func (h *Home) CancelRequested(run string) (who []byte, ok bool) {
	who, err := regular.ReadFile(filepath.Join(h.Folder(run), cancelName))
	return who, err == nil // what cannot be read decides nothing
}

// CancelDone removes the decision once it is carried out.
func (h *Home) CancelDone(run string) error {
	err := os.Remove(filepath.Join(h.Folder(run), cancelName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
