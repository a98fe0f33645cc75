package syncbuffer_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/internal/syncbuffer"
)

func TestConcurrentWritesAreComplete(t *testing.T) {
	var b syncbuffer.Buffer
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if _, err := io.WriteString(&b, "line\n"); err != nil || !strings.HasPrefix(b.String(), "line\n") {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := strings.Count(b.String(), "line\n"); got != 800 || len(b.String()) != 5*800 {
		t.Errorf("%d lines", got)
	}
}
