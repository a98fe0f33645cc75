package feed

// NewLimited returns a Feed that holds about limit bytes of events.
func NewLimited(limit int) *Feed { return &Feed{limit: limit} }

// Held returns the number and bytes of the events that a Feed holds.
func (f *Feed) Held() (events, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.held {
		bytes += len(i.Data)
	}
	return len(f.held), bytes
}
