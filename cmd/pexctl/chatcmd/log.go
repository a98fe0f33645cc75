package chatcmd

import (
	"io"
	"sync"
)

// logWriter writes the log of the server within the process to where the screen shows it.
type logWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (l *logWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

// redirect writes what follows elsewhere.
func (l *logWriter) redirect(to io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}
