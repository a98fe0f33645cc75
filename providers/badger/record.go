package badger

import (
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/memory"
)

// recordVersion is the version of stored values.
const recordVersion = 1

// maxRecord bounds a stored interaction; a value must fit a value log file.
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
		return nil, fmt.Errorf("interaction %s takes %d bytes, at most %d can be kept; leave its trace out", in.ID, len(raw), maxRecord)
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
		return fmt.Errorf("record version %d, this program knows up to %d", v, recordVersion)
	}
	return nil
}
