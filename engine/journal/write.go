package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Versions of the line format; new fields do not need a new version.
const (
	version       = 1
	sharedVersion = 2 // only in pools: a shared text, or a record that refers to some
)

var (
	kinds    = []string{"", "start", "intent", "result", "redo", "cut", "marker", "end", "change", "doubt", "answer", "said"}
	classes  = []string{"", "read", "idempotent", "write", "timer", "question"}
	statuses = []string{"", "failed", "skipped"}
)

// AppendLine appends the line of r to b. A JSON body is written as is, any other as text.
func AppendLine(b []byte, r *Record, c Chain) ([]byte, Chain, error) {
	return appendLine(b, version, r, c)
}

func appendLine(b []byte, v uint64, r *Record, c Chain) ([]byte, Chain, error) {
	at := len(b)
	if err := r.EnsureBody(); err != nil {
		return b, c, fmt.Errorf("record %d (%q) has no JSON form: %w", r.Seq, r.Path, err)
	}
	if !writable(r) {
		return b, c, fmt.Errorf("record %d (%q) has no JSON form", r.Seq, r.Path)
	}
	b = appendNumber(appendNumber(b, lineStart, v), `,"seq":`, r.Seq)
	b = appendWord(b, `,"kind":"`, kinds[r.Kind])
	b = appendWord(b, `,"class":"`, classes[r.Class])
	b = appendWord(b, `,"status":"`, statuses[r.Status])
	if r.Deferred {
		b = append(b, `,"held":true`...)
	}
	if r.Attempt != 0 && (r.Kind != Intent || r.Attempt != 1) { // that of an intent is 1 unless it says otherwise
		b = appendNumber(b, `,"attempt":`, uint64(r.Attempt))
	}
	if r.Voids != 0 {
		b = appendNumber(b, `,"voids":`, r.Voids)
	}
	b = appendNumber(b, `,"at":`, uint64(r.At))
	if r.WallTime != 0 {
		b = time.Unix(0, r.WallTime).UTC().AppendFormat(append(b, `,"wall":"`...), time.RFC3339Nano)
		b = append(b, '"')
	}
	if len(r.By) > 0 {
		b = append(append(b, `,"by":`...), r.By...)
	}
	b = jsonvalue.AppendString(append(b, `,"path":`...), r.Path)
	if r.Digest != (Digest{}) {
		b = append(base64.RawURLEncoding.AppendEncode(append(b, `,"digest":"`...), r.Digest[:]), '"')
	}
	b = appendBody(b, r)
	line, c := Seal(b[at:], c)
	return append(b[:at], line...), c, nil
}

func writable(r *Record) bool {
	return r.Kind != 0 && int(r.Kind) < len(kinds) && int(r.Class) < len(classes) && int(r.Status) < len(statuses) &&
		r.At >= 0 && utf8.ValidString(r.Path) && oneLine(r.By) && (r.Encoded || utf8.Valid(r.Body))
}

// oneLine reports whether b is empty, or JSON without line breaks.
func oneLine(b []byte) bool {
	return len(b) == 0 || json.Valid(b) && utf8.Valid(b) && !bytes.ContainsAny(b, "\r\n")
}

func appendBody(b []byte, r *Record) []byte {
	if len(r.Body) == 0 {
		return b
	}
	if !r.Encoded && !json.Valid(r.Body) {
		return jsonvalue.AppendString(append(b, `,"text":`...), string(r.Body))
	}
	key := `,"result":`
	switch r.Kind {
	case Start:
		key = `,"input":`
	case Intent:
		key = `,"request":`
	case Change:
		key = `,"change":`
	default:
	}
	b = append(b, key...)
	if r.Encoded || bytes.IndexByte(r.Body, '\n') < 0 && bytes.IndexByte(r.Body, '\r') < 0 {
		return append(b, r.Body...)
	}
	w := bytes.NewBuffer(b)
	_ = json.Compact(w, r.Body) // valid JSON at this point
	return w.Bytes()
}

func appendNumber(b []byte, key string, v uint64) []byte {
	return strconv.AppendUint(append(b, key...), v, 10)
}

func appendWord(b []byte, key, v string) []byte {
	if v == "" {
		return b
	}
	return append(append(append(b, key...), v...), '"')
}
