package runcmd

import (
	"bytes"
	"fmt"
	"os"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/runpage"
)

// writePage writes a run as an HTML page to a file, or to stdout for "-".
func writePage(c *ui.Call, r *runs.Run, file string) error {
	v, err := runpage.View(c.Context, r, host.Hidden(c.Catalog, r.Program, r.Host.Env))
	if err != nil {
		return failure.Infra(err)
	}
	var b bytes.Buffer
	if err := runpage.Write(&b, v); err != nil {
		return failure.Infra(err)
	}
	if file == "-" {
		_, err := ui.Verbatim(c.Stdout).Write(b.Bytes())
		return err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		return failure.Usagef("--html: %w", err)
	}
	fmt.Fprintf(c.Stderr, "%s: run %s, %d KB\n", file, v.Run, (b.Len()+1023)/1024)
	return nil
}
