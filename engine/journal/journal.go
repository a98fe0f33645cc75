package journal

// Journal keeps the records of one run. It is used by one session at a time.
type Journal interface {
	// Load gives the records of earlier sessions; the caller must not change them.
	Load() ([]Record, error)
	// Append adds records in order and copies what it needs before it returns.
	// An error, at once or by the ticket, ends the journal: nothing is appended
	// behind a hole.
	Append([]Record) (*Ticket, error)
}

// ValueKeeper is a capability of a Journal that keeps results as Go values, so
// that nobody needs to encode them.
type ValueKeeper interface {
	KeepsValues() bool
}

// Ticket is fulfilled when the records of an Append are durable; nil is fulfilled.
type Ticket struct {
	done chan struct{}
	err  error
}

// Done is closed when the ticket is fulfilled or has failed.
func (t *Ticket) Done() <-chan struct{} { return t.done }

// Wait blocks until the ticket is fulfilled, or says why it never will be.
func (t *Ticket) Wait() error {
	if t == nil {
		return nil
	}
	<-t.done
	return t.err
}

// Ready says, without waiting, whether Wait would return at once.
func (t *Ticket) Ready() bool {
	if t == nil {
		return true
	}
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}
