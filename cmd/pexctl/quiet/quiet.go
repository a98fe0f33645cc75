package quiet

import (
	"io"
	"log"
)

// Discarded is true: nothing of the standard logger is written.
var Discarded = discard()

func discard() bool {
	log.SetOutput(io.Discard)
	return true
}
