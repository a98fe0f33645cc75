package project

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/providers/badger"
)

// WaitNote is the progress line for a store that other processes use.
func WaitNote(w badger.Wait) string {
	text := "waiting for memory store " + w.Dir
	if w.PID != 0 {
		text += fmt.Sprintf(", in use by process %d", w.PID)
	}
	if w.Ahead > 0 {
		text += fmt.Sprintf(", %d more ahead", w.Ahead)
	}
	return fmt.Sprintf("%s (%v)", text, w.Waited.Round(time.Second))
}
