package runcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/diagram"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/runpage"
)

// writePage writes a run as an HTML page to a file, or to stdout for "-".
func writePage(c *ui.Call, r *runs.Run, file string) error {
	v, err := viewOf(c, r)
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

// viewOf returns the view of a run with secrets redacted.
func viewOf(c *ui.Call, r *runs.Run) (*runview.View, error) {
	var events runview.Collector
	path := &runtime.PathRecorder{}
	res := r.Watch(c.Context, path, &events)
	v, err := runview.New(runview.Source{
		Result: res, Question: runs.Question(r.Start.Input), Events: events.Events, Records: r.Records,
		Drawing: diagram.Draw(r.Program, path.Path(res)),
	})
	if err != nil {
		return nil, err
	}
	return redacted(v, host.Hidden(c.Catalog, r.Program, r.Host.Env))
}

// redacted returns a view with the values of secrets redacted.
func redacted(v *runview.View, secrets *secret.Values) (*runview.View, error) {
	whole, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	clean, found := secrets.JSON(whole)
	if !found {
		return v, nil
	}
	out := &runview.View{}
	return out, json.Unmarshal(clean, out)
}
