package runcmd

import (
	"errors"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/runfile"
)

// attach attaches the files of --file that models accept, and warns about those that neither
// models nor tools read. dir is the spec's folder.
func attach(c *ui.Call, p *engine.Program, in *engine.Input, home, dir string) error {
	readers := runfile.ReadersOf(p, dir)
	err := runfile.Attach(p, in, home, readers)
	if bad, ok := errors.AsType[*attachment.Error](err); ok {
		if err = failure.Usagef("--file: %w", bad); bad.Hint != "" {
			err = failure.WithHintf(err, "%s", bad.Hint)
		}
		return err
	}
	if err != nil {
		return failure.Usagef("--file: %w", err)
	}
	for _, name := range in.Files {
		if _, attached := in.Artifacts[name]; !attached && !readers.Read(name) {
			ui.Logf(c, "warning: no tool can read %s (--file): %s", fspath.Quote(name), readers.Advice())
		}
	}
	return nil
}
