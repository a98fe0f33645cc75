package badger

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// number reads a counter; one that is not there is 0.
func number(txn *badger.Txn, key []byte) (n uint64, there bool, err error) {
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
			return fmt.Errorf("a number of %d bytes", len(raw))
		}
		n = binary.BigEndian.Uint64(raw)
		return nil
	})
	return n, err
}

func eight(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
