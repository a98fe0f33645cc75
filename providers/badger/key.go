package badger

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/memory"
)

// address identifies a conversation of a tenant. Its keys are "t", tenant, memory id, a
// kind and the rest. Names are length-prefixed, so that no key of one conversation is
// equal to, or a prefix of, that of another.
type address struct{ tenant, memoryID string }

// The kinds of keys.
const (
	kindInteraction = 'i' // interaction id -> sequence number
	kindNext        = 'n' // next sequence number; larger ones are ignored
	kindSequence    = 's' // sequence number -> interaction
	kindSession     = 'v' // notes and variables
)

// writesKey counts the writes of the whole store. Every write increments it, so that lost
// writes are detected, and all tables overlap and one compaction merges them.
var writesKey = []byte("n")

// maxName is the maximum length of tenants, memory ids and interaction ids in bytes.
const maxName = 4096

// tenantPrefix returns the prefix of a tenant's keys.
func tenantPrefix(tenant string) []byte { return appendName([]byte{'t'}, tenant) }

// prefix returns the prefix of a conversation's keys.
func (a address) prefix() []byte { return appendName(tenantPrefix(a.tenant), a.memoryID) }

func (a address) keyOfKind(kind byte) []byte { return append(a.prefix(), kind) }

func (a address) next() []byte { return a.keyOfKind(kindNext) }

func (a address) session() []byte { return a.keyOfKind(kindSession) }

func (a address) sequence(n uint64) []byte {
	return binary.BigEndian.AppendUint64(a.keyOfKind(kindSequence), n)
}

func (a address) interaction(id string) []byte { return append(a.keyOfKind(kindInteraction), id...) }

func (a address) compare(b address) int {
	return cmp.Or(strings.Compare(a.tenant, b.tenant), strings.Compare(a.memoryID, b.memoryID))
}

// check returns why an address cannot be part of a key.
func (a address) check() error {
	err := errors.Join(checkName("tenant", a.tenant), checkName("memory id", a.memoryID))
	if a.memoryID == "" {
		err = errors.New("memory id is empty")
	}
	if err != nil {
		return &memory.RefusedError{Err: err}
	}
	return nil
}

func checkName(what, s string) error {
	if len(s) > maxName {
		return fmt.Errorf("%s is %d bytes long, the maximum is %d", what, len(s), maxName)
	}
	if !utf8.ValidString(s) { // records are JSON, which would change it
		return fmt.Errorf("%s %q is not valid UTF-8", what, s)
	}
	return nil
}

// key is a parsed key of a conversation.
type key struct {
	address
	kind byte
	rest string // interaction id, or an encoded sequence number
}

// parseKey parses a key; false = not a key of a conversation.
func parseKey(raw []byte) (k key, ok bool) {
	if len(raw) == 0 || raw[0] != 't' {
		return k, false
	}
	raw = raw[1:]
	if k.tenant, raw, ok = cutName(raw); !ok {
		return k, false
	}
	if k.memoryID, raw, ok = cutName(raw); !ok || len(raw) == 0 || k.memoryID == "" {
		return k, false
	}
	k.kind, k.rest = raw[0], string(raw[1:])
	switch k.kind {
	case kindInteraction:
		return k, k.rest != ""
	case kindNext, kindSession:
		return k, k.rest == ""
	case kindSequence:
		return k, len(k.rest) == 8
	}
	return k, false
}

func appendName(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	return append(dst, s...)
}

func cutName(raw []byte) (s string, rest []byte, ok bool) {
	if len(raw) < 2 {
		return "", nil, false
	}
	n := int(binary.BigEndian.Uint16(raw))
	if raw = raw[2:]; n > maxName || len(raw) < n {
		return "", nil, false
	}
	return string(raw[:n]), raw[n:], true
}
