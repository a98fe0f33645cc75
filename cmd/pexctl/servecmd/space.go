package servecmd

import (
	"context"
	"time"

	"github.com/pexctl/pex/engine/text"
)

// The server checks at these intervals whether runs that met a full disk can continue. Each
// attempt doubles the interval, since it may repeat a model call.
const (
	spaceInterval    = 5 * time.Second
	maxSpaceInterval = 10 * time.Minute
)

// neededSpace is the free space, in bytes, from which runs continue.
const neededSpace = 1 << 20

// continueWithSpace continues the runs of a tenant that stopped because the disk was full, once
// there is space, until ctx ends.
func (d *daemon) continueWithSpace(ctx context.Context, t *tenant) {
	wait, last := spaceInterval, time.Time{}
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		switch {
		case !t.manager.MetFullDisk():
			if time.Since(last) > maxSpaceInterval {
				wait = spaceInterval
			}
			continue
		case probe(t.home, neededSpace) != nil:
			continue
		}
		wait, last = min(2*wait, maxSpaceInterval), time.Now()
		n, err := t.manager.Recover(ctx)
		if err != nil && ctx.Err() == nil {
			d.log.Error("continue runs", "tenant", t.name, "error", err)
		}
		if n > 0 {
			d.log.Info("the disk has space again; continuing "+text.Count(n, "run"), "tenant", t.name)
		}
	}
}
