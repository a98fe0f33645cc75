package journal

import (
	"errors"
	"slices"
)

// Memory is an in-memory journal. The zero value is empty.
type Memory struct {
	Records []Record
	// RoundTrip encodes and decodes every record as a file would.
	RoundTrip bool
}

var (
	_ Journal     = (*Memory)(nil)
	_ ValueKeeper = (*Memory)(nil)
)

// Load returns the records so far.
func (m *Memory) Load() ([]Record, error) { return m.Records, nil }

// KeepsValues reports whether records are stored without encoding.
func (m *Memory) KeepsValues() bool { return !m.RoundTrip }

// Append stores the records; they count as durable at once.
func (m *Memory) Append(rs []Record) (*Ticket, error) {
	if !m.RoundTrip {
		if len(m.Records)+len(rs) > cap(m.Records) {
			m.Records = slices.Grow(m.Records, max(len(m.Records), len(rs), 16))
		}
		m.Records = append(m.Records, rs...)
		return nil, nil
	}
	for i := range rs {
		line, _, err := AppendLine(nil, &rs[i], Chain{})
		if err != nil {
			return nil, err
		}
		r, err := parse(line[:len(line)-1], version)
		if err != nil {
			return nil, err
		}
		m.Records = append(m.Records, r)
	}
	return nil, nil
}

// Discard is a journal that stores nothing, for runs that are never resumed.
type Discard struct{}

var (
	_ Journal     = Discard{}
	_ ValueKeeper = Discard{}
)

// Load returns nothing.
func (Discard) Load() ([]Record, error) { return nil, nil }

// KeepsValues returns true: nothing is encoded.
func (Discard) KeepsValues() bool { return true }

// Append does nothing.
func (Discard) Append([]Record) (*Ticket, error) { return nil, nil }

// Frozen is a read-only journal.
type Frozen []Record

var _ Journal = Frozen(nil)

// Load returns the records.
func (f Frozen) Load() ([]Record, error) { return f, nil }

// Append always fails.
func (Frozen) Append([]Record) (*Ticket, error) { return nil, errors.New("the journal is only read") }
