package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/pexctl/pex/engine/journal"
)

// The manifest's last member is a checksum over all before it.
const (
	sealMark = ",\n  \"sha256\": \""
	sealEnd  = "\"\n}\n"
	sealSize = len(sealMark) + 2*sha256.Size + len(sealEnd)
)

// sealed adds the checksum to an indented JSON object.
func sealed(object []byte) []byte {
	return seal(bytes.TrimSuffix(object, []byte("\n}")))
}

func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	out := append(bytes.Clone(body), sealMark...)
	return append(hex.AppendEncode(out, sum[:]), sealEnd...)
}

// checkSeal verifies a manifest. Those of earlier versions have no checksum.
func checkSeal(b []byte) error {
	if !bytes.Contains(b, []byte(sealMark)) {
		return nil
	}
	if len(b) < sealSize || !bytes.Equal(seal(b[:len(b)-sealSize]), b) {
		return fmt.Errorf("%w: its checksum is another", journal.ErrCorrupt)
	}
	return nil
}
