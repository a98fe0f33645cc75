package journal

import "github.com/pexctl/pex/engine/journal/commitlog"

// Journal stores the records of one run. One session uses it at a time.
type Journal interface {
	// Load returns the records of earlier sessions; the caller must not modify them.
	Load() ([]Record, error)
	// Append appends records in order. It does not retain recs. An error, returned here
	// or by the ticket, ends the journal: nothing can be appended after it.
	Append([]Record) (*Ticket, error)
}

// ValueKeeper is a Journal that may store results as Go values, so that they need not be
// encoded.
type ValueKeeper interface {
	KeepsValues() bool
}

// Ticket is fulfilled when the records of an Append are as durable as they must be. A nil
// Ticket is fulfilled. The commit of the records may be left to whoever waits for it: Wait
// performs it, Start and Done perform it in the background.
type Ticket struct {
	done     chan struct{}
	err      error
	appender *appender // performs the commit; nil = it is performed anyway

	group *commitlog.Group // of the commit log; nil = the fields above count
	file  *File            // with frames in the group
}

// Start makes sure that the ticket will be fulfilled without a Wait.
func (t *Ticket) Start() {
	switch {
	case t == nil:
	case t.group != nil:
		t.group.Start()
	case t.appender != nil && t.appender.claim(t):
		go t.appender.commitLoop()
	}
}

// Done returns a channel that is closed when the ticket is fulfilled or has failed.
func (t *Ticket) Done() <-chan struct{} {
	t.Start()
	if t.group != nil {
		return t.group.Done()
	}
	return t.done
}

// Wait blocks until the ticket is fulfilled, or returns why it failed.
func (t *Ticket) Wait() error {
	if t == nil {
		return nil
	}
	if t.group != nil {
		return t.file.waitLog(t.group)
	}
	if t.appender != nil && t.appender.claim(t) && t.appender.commitOnce() {
		go t.appender.commitLoop()
	}
	<-t.done
	return t.err
}

// Ready reports whether Wait would return at once.
func (t *Ticket) Ready() bool {
	if t == nil {
		return true
	}
	var done <-chan struct{} = t.done
	if t.group != nil {
		done = t.group.Done()
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
