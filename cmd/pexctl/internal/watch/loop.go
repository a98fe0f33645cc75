package watch

import (
	"context"
	"maps"
)

// loop repeats work.
type loop struct {
	// pause waits before the next check of the files; an error ends the loop.
	pause func(context.Context) error
}

// run calls do, and again after each change of the files that do watched the last
// time, until ctx ends. changed are the changed files, none in the first call.
func (l loop) run(ctx context.Context, do func(changed []string, files *Files)) {
	var changed []string
	files := &Files{}
	for {
		before := files.stamps() // changes during do count
		files = &Files{}
		do(changed, files)
		seen := files.stamps()
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

// await waits until the files differ from seen, and then until they are unchanged
// between two checks, because editors write in several steps. It returns nil if
// ctx ended.
func (l loop) await(ctx context.Context, files *Files, seen stamps) []string {
	last := seen
	for ctx.Err() == nil && l.pause(ctx) == nil {
		now := files.stamps()
		settled := maps.Equal(now, last)
		last = now
		if changed := now.changedSince(seen); settled && len(changed) > 0 {
			return changed
		}
	}
	return nil
}
