package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/providers/otel"
)

// telemetry exports the runs of this process as the environment configures. It costs nothing
// until the first run.
type telemetry struct {
	stderr  io.Writer
	open    sync.Once
	otel    *otel.Telemetry // nil = nothing is exported
	warned  sync.Once
	log     func(error) // nil = stderr
	catalog *catalog.Catalog
}

// metrics returns the metrics of a process that serves them, which has a log for the first failure
// to export. It must be called before the first run.
func (t *telemetry) metrics(s otel.Scrape, log func(error)) *otel.Metrics {
	t.open.Do(func() {
		t.log = log
		t.connect(&s)
	})
	return t.otel.Metrics()
}

// sinks returns the sinks that export a session of a run.
func (t *telemetry) sinks(home string, p *engine.Program, in *engine.Input) []engine.Sink {
	t.open.Do(func() { t.connect(nil) })
	if t.otel == nil {
		return nil
	}
	return t.otel.Sinks(p, in, otel.FileMarks{Dir: filepath.Join(home, homedir.TelemetryFolder)})
}

// connect opens what the environment configures. scrape is nil but for servers.
func (t *telemetry) connect(scrape *otel.Scrape) {
	var err error
	t.otel, err = otel.Open(context.Background(), otel.Options{
		Getenv: os.Getenv, Version: version.String(), Warn: t.warn, Scrape: scrape,
		Secrets: func(p *engine.Program) *secret.Values { return host.Secrets(t.catalog, p, os.Getenv) },
	})
	if err != nil {
		t.warn(err)
	}
}

// warn reports the first failure to export. It never fails a command.
func (t *telemetry) warn(err error) {
	t.warned.Do(func() {
		if t.log != nil {
			t.log(err)
			return
		}
		fmt.Fprintf(t.stderr, "warning: telemetry: %v\n", err)
	})
}

// close exports what remains.
func (t *telemetry) close() {
	if err := t.otel.Close(context.Background()); err != nil {
		t.warn(err)
	}
}
