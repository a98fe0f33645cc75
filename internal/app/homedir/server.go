package homedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

// ServerFile is the file of a home that says which server uses it.
const ServerFile = "server.json"

// Server is a running server of a home.
type Server struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// A server that has claimed a home announces its address within a moment.
const (
	announceTries = 100
	announcePause = 10 * time.Millisecond
)

// Claim is the claim of this process to be the server of a home. Its zero value claims nothing.
type Claim struct{ file *os.File }

// ClaimServer claims a home for a server of this process. If the server of another process has claimed it, other is
// that server, and the claim is empty. Its URL is "" if it is not known. On systems without file locks, every claim is
// empty, and other nil.
func ClaimServer(home string) (claim Claim, other *Server, err error) {
	if !regular.CanLock {
		return Claim{}, nil, nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return Claim{}, nil, fmt.Errorf("claim the home for a server: %w", err)
	}
	path := filepath.Join(home, ServerFile)
	f, err := regular.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return Claim{}, nil, fmt.Errorf("claim the home for a server: %w", err)
	}
	for range announceTries {
		locked, err := regular.TryLock(f)
		if err != nil {
			return Claim{}, nil, errors.Join(fmt.Errorf("claim the home for a server: %w", err), f.Close())
		}
		if locked {
			return Claim{f}, nil, f.Truncate(0)
		}
		other = &Server{}
		if b, err := regular.ReadFile(path); err == nil && json.Unmarshal(b, other) == nil && other.URL != "" {
			break
		}
		time.Sleep(announcePause)
	}
	return Claim{}, other, f.Close()
}

// Announce stores the address of the server.
func (c Claim) Announce(url string) error {
	if c.file == nil {
		return nil
	}
	b, err := json.Marshal(Server{URL: url, PID: os.Getpid()})
	if err == nil {
		_, err = c.file.WriteAt(append(b, '\n'), 0)
	}
	if err != nil {
		return fmt.Errorf("announce the server of the home: %w", err)
	}
	return nil
}

// Release ends the claim. So does the end of the process.
func (c Claim) Release() error {
	if c.file == nil {
		return nil
	}
	return errors.Join(c.file.Truncate(0), c.file.Close())
}
