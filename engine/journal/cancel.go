package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// cancelName is the file with the decision to cancel a run, written by one process for
// the process that runs it.
const cancelName = "cancel"

// RequestCancel stores the decision to cancel a run. who is who decided, as JSON on one
// line.
func (h *Home) RequestCancel(run string, who []byte) error {
	const attempts = 10 // CancelDone of another request may remove the folder
	for n := 1; ; n++ {
		if err := os.MkdirAll(h.Folder(run), 0o700); err != nil {
			return Full(err)
		}
		err := replaceFile(filepath.Join(h.Folder(run), cancelName), append(who, '\n'), false)
		if n == attempts || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// CancelRequested reports whether a run is to be cancelled, and who decided it.
func (h *Home) CancelRequested(run string) (who []byte, ok bool) {
	who, err := regular.ReadFile(filepath.Join(h.Folder(run), cancelName))
	return who, err == nil // an unreadable file decides nothing
}

// CancelDone removes the decision once it was carried out.
func (h *Home) CancelDone(run string) error {
	err := os.Remove(filepath.Join(h.Folder(run), cancelName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_ = os.Remove(h.Folder(run)) // unless it has other files
	return err
}
