package otel

import (
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
)

// Labels of metrics that are not attributes of the conventions.
const (
	agentLabel  = attribute.Key("agent")
	statusLabel = attribute.Key("status")
	stopLabel   = attribute.Key("stop_reason")
	toolLabel   = attribute.Key("tool")
	tenantLabel = attribute.Key("tenant")
	reasonLabel = attribute.Key("reason")

	tokenType     = attribute.Key("gen_ai.token.type")
	tokenModality = attribute.Key("gen_ai.token.modality")
	httpRoute     = attribute.Key("http.route")
	httpMethod    = attribute.Key("http.request.method")
	httpStatus    = attribute.Key("http.response.status_code")
)

const (
	// maxSeries is how many series GET /metrics has at most, with those of each bucket.
	maxSeries = 200
	// maxLabel is the length of the value of a label, in bytes.
	maxLabel = 64
	// otherValue replaces the value of a label beyond the limit.
	otherValue = "other"
)

// budget is how many series may still be added to a process.
type budget struct {
	mu   sync.Mutex
	left int
}

// take reports whether n series may be added, and counts them.
func (b *budget) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

// labels bounds the sets of labels of an instrument: those that come first within the budget
// are recorded as they are. In later ones, labels without a fixed number of values have the
// value other.
type labels struct {
	budget *budget
	cost   int // series of a set
	most   int // sets

	mu    sync.RWMutex
	known map[attribute.Distinct]attribute.Set
}

// newLabels returns the labels of an instrument. rest is the number of sets that exist beside
// those within the budget.
func newLabels(b *budget, cost, most, rest int) *labels {
	b.take(cost * rest)
	return &labels{budget: b, cost: cost, most: most, known: map[attribute.Distinct]attribute.Set{}}
}

// bound returns the set to record in place of these attributes.
func (l *labels) bound(attrs []attribute.KeyValue) attribute.Set {
	for i, a := range attrs {
		attrs[i] = validLabel(a)
	}
	set := attribute.NewSet(attrs...)
	if l.most == 0 { // all labels have a fixed number of values
		return set
	}
	l.mu.RLock()
	_, ok := l.known[set.Equivalent()]
	l.mu.RUnlock()
	if ok || l.admit(set) {
		return set
	}
	for i, a := range attrs {
		attrs[i] = restOf(a)
	}
	return attribute.NewSet(attrs...)
}

func (l *labels) admit(set attribute.Set) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.known[set.Equivalent()]; ok {
		return true
	}
	if len(l.known) >= l.most || !l.budget.take(l.cost) {
		return false
	}
	l.known[set.Equivalent()] = set
	return true
}

// validLabel returns a label whose value both formats can represent.
func validLabel(a attribute.KeyValue) attribute.KeyValue {
	if a.Value.Type() != attribute.STRING {
		return a
	}
	s := a.Value.AsString()
	valid := s
	if len(valid) > maxLabel {
		valid = valid[:maxLabel]
	}
	if valid = strings.ToValidUTF8(valid, ""); valid == s {
		return a
	}
	return a.Key.String(valid)
}

// restOf returns the label of a set beyond the limit. Statuses remain, and of an HTTP status
// its class.
func restOf(a attribute.KeyValue) attribute.KeyValue {
	switch a.Key {
	case statusLabel, tokenType, tokenModality, operationName:
		return a
	case httpStatus:
		return a.Key.Int64(a.Value.AsInt64() / 100 * 100)
	case errorType, httpMethod:
		return a.Key.String("_OTHER") // of the conventions
	default:
		return a.Key.String(otherValue)
	}
}
