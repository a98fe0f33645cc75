package drift

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/journal"
)

// RecordedRequest is a model request of a recording.
type RecordedRequest struct {
	Path    string // of its effect
	Seq     uint64
	Request journal.Request
}

// Requests returns the model requests of a recording in order, without voided ones. With
// an error it returns those before it.
func Requests(records []journal.Record) ([]RecordedRequest, error) {
	var segments journal.Segments
	var out []RecordedRequest
	standing := journal.WithoutVoided(records)
	for i := range standing {
		rec := &standing[i]
		if !IsRequest(rec) {
			continue
		}
		q, err := segments.Decode(rec.Body)
		if err != nil {
			return out, fmt.Errorf("record %d (%s): %w", rec.Seq, rec.Path, err)
		}
		out = append(out, RecordedRequest{rec.Path, rec.Seq, q})
	}
	return out, nil
}

// IsRequest reports whether a record is the intent of a model call, whose body
// journal.Segments wrote.
func IsRequest(rec *journal.Record) bool {
	if rec.Kind != journal.Intent || rec.Class != journal.Read {
		return false
	}
	for _, begin := range []string{`{"new":`, `{"defs":`, `{"messages":`} {
		if bytes.HasPrefix(rec.Body, []byte(begin)) {
			return true
		}
	}
	return false
}

// SharedPrefix returns the latest of earlier requests that begins with most of the
// messages of now, and how many. One message alone does not count.
func SharedPrefix(earlier []RecordedRequest, now journal.Request) (path string, n int) {
	for _, a := range slices.Backward(earlier) {
		k := 0
		for k < min(len(a.Request.Messages), len(now.Messages)) && sameMessage(a.Request.Messages[k], now.Messages[k]) {
			k++
		}
		if k > n {
			path, n = a.Path, k
		}
	}
	if n < 2 || n == len(now.Messages) {
		return "", 0
	}
	return path, n
}

func sameMessage(a, b journal.Message) bool {
	return string(a.Head) == string(b.Head) && strings.Join(a.Text, "") == strings.Join(b.Text, "")
}

// Limits of Nearest.
const (
	maxLines    = 2000 // lines of one request
	maxRequests = 1000 // requests
)

// Nearest returns the index of the recorded request most similar to now, or -1. Requests
// of the same role come first, then those of the same step, then those that share most
// lines; of equals the first. Its cost is limited: it ignores requests and lines beyond
// the limits.
func Nearest(recorded []journal.Request, now journal.Request) int {
	best, rank := -1, -1.0
	seed := maphash.MakeSeed()
	wanted, set := fields(now), lines(seed, now)
	for i, q := range recorded[:min(len(recorded), maxRequests)] {
		f := fields(q)
		r := similarity(set, lines(seed, q))
		if bytes.Equal(f["step"], wanted["step"]) {
			r += 2
		}
		if bytes.Equal(f["role"], wanted["role"]) {
			r += 4
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// lines counts the lines of a request's messages by hash.
func lines(seed maphash.Seed, q journal.Request) map[uint64]int {
	out := map[uint64]int{}
	n := 0
	for _, m := range q.Messages {
		out[maphash.Bytes(seed, m.Head)]++
		for line := range strings.Lines(strings.Join(m.Text, "")) {
			if n++; n > maxLines {
				return out
			}
			out[maphash.String(seed, line)]++
		}
	}
	return out
}

// similarity returns the share of common lines, from 0 to 1.
func similarity(a, b map[uint64]int) float64 {
	common, all := 0, 0
	for h, n := range a {
		common += min(n, b[h])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 1
	}
	return 2 * float64(common) / float64(all)
}
