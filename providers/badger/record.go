package badger

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/pexctl/pex/engine/memory"
)

// recordVersion is the version of stored values.
const recordVersion = 1

// maxRecord is the maximum size of a stored interaction, which must fit into a value log
// file.
const maxRecord = 8 << 20

type record struct {
	Version     int                `json:"v"`
	Interaction memory.Interaction `json:"interaction"`
}

func encodeRecord(in memory.Interaction) ([]byte, error) {
	raw, err := json.Marshal(record{recordVersion, in})
	if err != nil {
		return nil, fmt.Errorf("encode interaction %s: %w", in.ID, err)
	}
	if len(raw) > maxRecord {
		return nil, fmt.Errorf("interaction %s is %d bytes, the maximum is %d; store it without its trace", in.ID, len(raw), maxRecord)
	}
	return raw, nil
}

func decodeRecord(raw []byte) (memory.Interaction, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return memory.Interaction{}, err
	}
	return r.Interaction, checkVersion(r.Version)
}

func checkVersion(v int) error {
	if v < 1 || v > recordVersion {
		return fmt.Errorf("record version %d is newer than the supported version %d", v, recordVersion)
	}
	return nil
}

// number reads a counter; a missing one is 0.
func number(txn *badger.Txn, key []byte) (n uint64, found bool, err error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	n, err = toNumber(item)
	return n, true, err
}

func toNumber(item *badger.Item) (n uint64, err error) {
	err = item.Value(func(raw []byte) error {
		if len(raw) != 8 {
			return fmt.Errorf("a number has %d bytes instead of 8", len(raw))
		}
		n = binary.BigEndian.Uint64(raw)
		return nil
	})
	return n, err
}

func encodeNumber(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
