package queue_test

import (
	"slices"
	"testing"

	"github.com/pexctl/pex/providers/temporal/queue"
)

// A worker that was started again on the same host is no other host.
func TestWorkersOnOtherHosts(t *testing.T) {
	got := queue.OnOtherHosts([]string{"1@a@", "2@a@pex.memory", "3@b@", "a", "4@ab@"}, "a")
	if want := []string{"3@b@", "a", "4@ab@"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
