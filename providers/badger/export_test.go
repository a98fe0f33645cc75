package badger

import "time"

// SplitKey is what stands in a key of a conversation, and KeyOf makes one.
func SplitKey(raw []byte) (tenant, memoryID string, kind byte, rest string, ok bool) {
	k, ok := parseKey(raw)
	return k.tenant, k.memoryID, k.kind, k.rest, ok
}

// KeyOf makes a key.
func KeyOf(tenant, memoryID string, kind byte, rest string) []byte {
	return append(address{tenant, memoryID}.kind(kind), rest...)
}

// ReportWait has a store report as if it had waited for so long, and so long.
func ReportWait(s *Store, waited ...time.Duration) {
	w := wait{store: s, began: time.Now()}
	for _, d := range waited {
		w.tellAt(w.began.Add(d))
	}
}

// The settings of Badger, and parts that no operation shows by themselves.
var (
	Settings     = settings
	DecodeRecord = decodeRecord
	TryLock      = tryLock
)
