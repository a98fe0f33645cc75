package badger

import (
	"encoding/binary"
	"fmt"
)

// Keys: "t" tenant, conversation, then a kind and what belongs to it. Names
// carry their length in front, so that none is a prefix of another.
const (
	kindNext        = 'n' // the next sequence number
	kindSequence    = 's' // sequence number -> interaction
	kindInteraction = 'i' // interaction id -> sequence number
)

// totalKey counts the interactions of the whole store. Every session that adds
// one writes it, so that all tables overlap and one compaction takes them all.
var totalKey = []byte("n")

// maxName bounds tenants, memory ids and interaction ids, in bytes.
const maxName = 4096

func name(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	return append(dst, s...)
}

// conversation is the prefix of a conversation's keys of one kind.
func conversation(tenant, memoryID string, kind byte) []byte {
	k := make([]byte, 0, 1+2+len(tenant)+2+len(memoryID)+1+8)
	return append(name(name(append(k, 't'), tenant), memoryID), kind)
}

func sequenceKey(tenant, memoryID string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(conversation(tenant, memoryID, kindSequence), n)
}

func interactionKey(tenant, memoryID, id string) []byte {
	return append(conversation(tenant, memoryID, kindInteraction), id...)
}

// checkName says why a name cannot be part of a key.
func checkName(what, s string) error {
	if len(s) > maxName {
		return fmt.Errorf("%s is %d bytes long, at most %d are possible", what, len(s), maxName)
	}
	return nil
}
