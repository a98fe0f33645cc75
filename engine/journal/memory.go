package journal

import "slices"

// Memory is a journal in memory. The zero value is an empty one.
type Memory struct {
	Records []Record
	// Paranoid writes and reads every record as a file would.
	Paranoid bool
}

var (
	_ Journal     = (*Memory)(nil)
	_ ValueKeeper = (*Memory)(nil)
)

// Load gives the records kept so far.
func (m *Memory) Load() ([]Record, error) { return m.Records, nil }

// KeepsValues is true unless every record is to be written.
func (m *Memory) KeepsValues() bool { return !m.Paranoid }

// Append keeps the records; they are durable at once.
func (m *Memory) Append(rs []Record) (*Ticket, error) {
	if !m.Paranoid {
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
		r, err := parse(line[:len(line)-1])
		if err != nil {
			return nil, err
		}
		m.Records = append(m.Records, r)
	}
	return nil, nil
}

// Discard is a journal that keeps nothing, for runs that nobody will resume.
type Discard struct{}

var (
	_ Journal     = Discard{}
	_ ValueKeeper = Discard{}
)

// Load gives nothing.
func (Discard) Load() ([]Record, error) { return nil, nil }

// KeepsValues is true: nothing is ever encoded.
func (Discard) KeepsValues() bool { return true }

// Append forgets.
func (Discard) Append([]Record) (*Ticket, error) { return nil, nil }
