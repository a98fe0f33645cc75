package watch

import (
	"context"
	"maps"
)

// loop repeats work.
type loop struct {
	// pause waits until the files are looked at again; an error ends the loop.
	pause func(context.Context) error
}

// run calls do, and again after each change of the files that do watched the last
// time, until ctx ends. changed are those that did, none at first.
func (l loop) run(ctx context.Context, do func(changed []string, files *Files)) {
	var changed []string
	files := &Files{}
	for {
		before := files.now() // what changes while do works counts
		files = &Files{}
		do(changed, files)
		seen := files.now()
		for path := range seen {
			if at, known := before[path]; known {
				seen[path] = at
			}
		}
		if changed = l.await(ctx, files, seen); changed == nil {
			return
		}
	}
}

// await waits until the files differ from what was seen, and then until they stay
// as they are between two looks: editors write in several steps. nil = ctx ended.
func (l loop) await(ctx context.Context, files *Files, seen stamps) []string {
	last := seen
	for ctx.Err() == nil && l.pause(ctx) == nil {
		now := files.now()
		settled := maps.Equal(now, last)
		last = now
		if changed := now.since(seen); settled && len(changed) > 0 {
			return changed
		}
	}
	return nil
}
