package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Certificate names the PEM files of a certificate chain and its private key. The server
// reads them again when they change.
type Certificate struct{ Cert, Key string }

// checkInterval is how often the files are checked for changes, at most.
const checkInterval = time.Second

// certificateFiles loads a certificate from files. It is safe for concurrent use.
type certificateFiles struct {
	Certificate
	log *slog.Logger

	mu      sync.Mutex
	loaded  *tls.Certificate
	version string // of the files that were read last
	checked time.Time
}

// load reads the files for the first time.
func (c *certificateFiles) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checked, c.version = time.Now(), c.currentVersion()
	return c.read()
}

// get returns the current certificate. If the new files are invalid, for example because
// only one of them was replaced yet, it returns the previous one.
func (c *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.checked) < checkInterval {
		return c.loaded, nil
	}
	c.checked = now
	if v := c.currentVersion(); v != c.version {
		c.version = v
		if err := c.read(); err != nil {
			c.log.Error("keep the previous TLS certificate", "error", err)
		} else {
			c.log.Info("loaded a new TLS certificate", "cert", c.Cert)
		}
	}
	return c.loaded, nil
}

func (c *certificateFiles) read() error {
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return fmt.Errorf("TLS certificate %s with key %s: %w", c.Cert, c.Key, err)
	}
	c.loaded = &pair
	return nil
}

// currentVersion returns sizes and modification times of the files.
func (c *certificateFiles) currentVersion() (v string) {
	for _, name := range []string{c.Cert, c.Key} {
		if info, err := os.Stat(name); err == nil {
			v += fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano(), "\n")
		} else {
			v += err.Error() + "\n"
		}
	}
	return v
}
