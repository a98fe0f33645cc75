package webhook

import (
	"fmt"
	"os"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

// A process that was killed while it started a child holds its locks for a moment longer.
const (
	lockTries = 200
	lockPause = 5 * time.Millisecond
)

// acquire locks a file until it is closed or this process ends. On systems without locks it
// only opens the file.
func acquire(path string) (*os.File, error) {
	file, err := regular.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil || !regular.CanLock {
		return file, err
	}
	for range lockTries {
		locked, err := regular.TryLock(file)
		if locked {
			return file, nil
		}
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("lock the webhook deliveries: %w", err)
		}
		time.Sleep(lockPause)
	}
	_ = file.Close()
	return nil, fmt.Errorf("%s is locked: another server uses this home", path)
}
