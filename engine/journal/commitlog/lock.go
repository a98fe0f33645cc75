package commitlog

import (
	"os"

	"github.com/pexctl/pex/engine/regular"
)

// lockDir locks a folder until unlock is called. It waits for other processes. Without locks
// it returns an error, since it is unknown whether the owner of a log has ended.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := regular.Lock(d); err != nil {
		d.Close()
		return nil, err
	}
	return func() { d.Close() }, nil
}
