//go:build e2e && linux

package fleettest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// write is what a tool sends to the ledger.
type write struct {
	Run   string `json:"run"`
	Entry string `json:"entry"` // STEP-NUMBER
}

// ledger counts writes, and survives everything that is killed.
type ledger struct {
	url   string
	delay time.Duration // between a write and its answer

	mu       sync.Mutex
	byKey    map[string]int   // how often each call was performed, by its idempotency key
	byWrite  map[write]int    // how often each write was performed
	receipts map[write]string // of the first time
	keys     map[string]write
	refused  []string // what is not a write
}

func newLedger(t *testing.T) *ledger {
	l := &ledger{byKey: map[string]int{}, byWrite: map[write]int{}, receipts: map[write]string{}, keys: map[string]write{}}
	s := httptest.NewServer(l)
	t.Cleanup(s.Close)
	l.url = s.URL
	return l
}

// ServeHTTP performs a write and answers with its receipt. It performs what it is told to, also
// twice.
func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var x write
	key := r.Header.Get("Idempotency-Key")
	err := json.NewDecoder(r.Body).Decode(&x)
	receipt, ok := l.perform(key, x, err)
	if !ok {
		http.Error(w, "no write", http.StatusBadRequest)
		return
	}
	time.Sleep(l.delay)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"receipt": %q}`, receipt)
}

// perform returns the receipt of a write; err is what was wrong with the request.
func (l *ledger) perform(key string, x write, err error) (receipt string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || key == "" || x.Run == "" || x.Entry == "" {
		l.refused = append(l.refused, fmt.Sprintf("not a write: key %q, %+v, %v", key, x, err))
		return "", false
	}
	l.byKey[key]++
	l.byWrite[x]++
	l.keys[key] = x
	if l.byWrite[x] == 1 {
		l.receipts[x] = fmt.Sprintf("receipt-%d", len(l.receipts)+1)
	}
	return fmt.Sprintf("%s-%d", l.receipts[x], l.byWrite[x]), true
}

// performed returns how many writes there were.
func (l *ledger) performed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, times := range l.byWrite {
		n += times
	}
	return n
}

// receiptOf returns the answer to the call with a key, or "" if it was not performed.
func (l *ledger) receiptOf(key string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, ok := l.keys[key]
	if !ok {
		return ""
	}
	return l.receipts[x] + "-1"
}

// of returns the receipts of a run by entry.
func (l *ledger) of(run string) map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]string{}
	for x, receipt := range l.receipts {
		if x.Run == run {
			out[x.Entry] = receipt + "-1"
		}
	}
	return out
}

// repeated returns the writes that were performed more than once.
func (l *ledger) repeated() (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, times := range l.byKey {
		if times > 1 {
			out = append(out, fmt.Sprintf("%s: %d times", key, times))
		}
	}
	for x, times := range l.byWrite {
		if times > 1 {
			out = append(out, fmt.Sprintf("%+v: %d times", x, times))
		}
	}
	return append(out, l.refused...)
}

// entries returns how many writes each run has.
func (l *ledger) entries() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]int{}
	for x := range maps.Keys(l.byWrite) {
		out[x.Run]++
	}
	return out
}
