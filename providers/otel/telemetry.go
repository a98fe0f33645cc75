package otel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/secret"
)

// Options configure Open.
type Options struct {
	Getenv   func(string) string   // reads the environment; the SDK reads that of the process
	Version  string                // of pexctl
	Now      func() time.Time      // nil = time.Now
	Warn     func(error)           // called once with the first failure of an export; nil = not reported
	Exporter sdktrace.SpanExporter // receives each span at its end, in place of a collector; nil = none
	Scrape   *Scrape               // also serves metrics; nil = it does not
	// Secrets returns the values that are masked in content, in addition to those that the run
	// masks. Nil = none. It is called if the environment opts in to content.
	Secrets func(p *engine.Program) *secret.Values
}

// Telemetry exports traces and metrics. A nil *Telemetry exports nothing.
type Telemetry struct {
	names   *names
	sampler sdktrace.Sampler
	traces  *sdktrace.TracerProvider // nil = none
	tracer  trace.Tracer
	metrics *Metrics // nil = none
	now     func() time.Time

	closeTime time.Duration
	content   bool // on spans
	getenv    func(string) string
	secrets   func(p *engine.Program) *secret.Values

	mu   sync.Mutex
	runs map[string]*watched

	ended []string // runs that have ended and are not exported, oldest first; see forgetOld
}

// closeTime is how long Close waits for the collector, unless OTEL_BSP_EXPORT_TIMEOUT says.
const closeTime = 2 * time.Second

// Open returns what the environment configures and Options.Scrape, or nil if that is nothing.
// The error joins a *SettingError per variable that cannot be used; nothing is exported then,
// but Scrape applies.
func Open(ctx context.Context, o Options) (*Telemetry, error) {
	c, invalid := readConfig(o.Getenv)
	if invalid != nil {
		c, o.Exporter = &config{names: c.names}, nil
	}
	if !c.traces && !c.metrics && o.Exporter == nil && o.Scrape == nil {
		return nil, invalid
	}
	described, err := describe(ctx, o)
	if err != nil {
		return nil, errors.Join(invalid, err)
	}
	if o.Warn != nil {
		var once sync.Once
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { once.Do(func() { o.Warn(err) }) }))
	}
	t := &Telemetry{names: c.names, now: o.Now, runs: map[string]*watched{}, closeTime: closeTime, getenv: o.Getenv, content: c.content, secrets: o.Secrets}
	c.warn(o.Warn)
	if t.now == nil {
		t.now = time.Now
	}
	if ms, err := strconv.Atoi(o.Getenv("OTEL_BSP_EXPORT_TIMEOUT")); err == nil && invalid == nil {
		t.closeTime = time.Duration(ms) * time.Millisecond
	}
	if err := t.openTraces(ctx, c, &o, described); err != nil {
		return nil, errors.Join(invalid, err)
	}
	if t.metrics, err = openMetrics(ctx, c, o.Scrape, described, o.Version); err != nil {
		return nil, errors.Join(invalid, err, t.Close(ctx))
	}
	return t, invalid
}

// openTraces has spans exported, if a config or Options.Exporter asks for it.
func (t *Telemetry) openTraces(ctx context.Context, c *config, o *Options, described *resource.Resource) error {
	if !c.traces && o.Exporter == nil {
		return nil
	}
	exporter := o.Exporter
	t.sampler = sdktrace.ParentBased(sdktrace.AlwaysSample())
	if c.traces {
		t.sampler = c.sampler
		var err error
		if exporter, err = otlptracehttp.New(ctx, otlptracehttp.WithHTTPClient(c.clients[tracesPrefix])); err != nil {
			return err
		}
	}
	processor := sdktrace.WithBatcher(marking{exporter, t})
	if o.Exporter != nil {
		processor = sdktrace.WithSyncer(marking{exporter, t})
	}
	t.traces = sdktrace.NewTracerProvider(
		processor, sdktrace.WithResource(described),
		sdktrace.WithIDGenerator(ids{}), sdktrace.WithSampler(sdktrace.AlwaysSample()), // a run is sampled as a whole
		sdktrace.WithRawSpanLimits(spanLimits()),
	)
	t.tracer = t.traces.Tracer("github.com/pexctl/pex", trace.WithInstrumentationVersion(o.Version),
		trace.WithInstrumentationAttributes(attribute.String("pex.conventions", c.names.version)))
	return nil
}

// describe returns the attributes of this process; those of OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES come first. Servers have an id, since several may export the same
// metrics at once; of commands, which come and go, it would be another one each time.
func describe(ctx context.Context, o Options) (*resource.Resource, error) {
	attrs := []attribute.KeyValue{attribute.String("service.name", "pexctl"), attribute.String("service.version", o.Version)}
	if o.Scrape != nil {
		attrs = append(attrs, attribute.String("service.instance.id", rand.Text()))
	}
	return resource.New(ctx, resource.WithAttributes(attrs...), resource.WithTelemetrySDK(), resource.WithFromEnv())
}

// spanLimits are the SDK's, with a bound for the length of values.
func spanLimits() sdktrace.SpanLimits {
	l := sdktrace.NewSpanLimits()
	if l.AttributeValueLengthLimit < 0 || l.AttributeValueLengthLimit > maxValue {
		l.AttributeValueLengthLimit = maxValue
	}
	return l
}

// maxValue is the maximum length of an attribute, in characters.
const maxValue = 64 << 10

// Metrics returns the metrics of the process, or nil.
func (t *Telemetry) Metrics() *Metrics {
	if t == nil {
		return nil
	}
	return t.metrics
}

// Sinks returns the sinks that export a session of a run; those of a run that is not sampled
// export no spans. marks are those of the run's home.
func (t *Telemetry) Sinks(p *engine.Program, in *engine.Input, marks Marks) (out []engine.Sink) {
	if t == nil {
		return nil
	}
	if t.metrics != nil {
		out = append(out, t.metrics.sink(p, in))
	}
	if t.traces == nil {
		return out
	}
	r := newRunTracer(t, p, in)
	if !r.isSampled() {
		return append(out, unsampled{})
	}
	r.mark, r.isMarked = t.watch(in.RunID, marks)
	r.encoder = t.newEncoder(p)
	return append(out, r)
}

// exporters returns what exports something.
func (t *Telemetry) exporters() (out []exporter) {
	if t == nil {
		return nil
	}
	if t.traces != nil {
		out = append(out, t.traces)
	}
	if t.metrics != nil {
		out = append(out, t.metrics.provider)
	}
	return out
}

// exporter is a provider of the SDK.
type exporter interface {
	ForceFlush(context.Context) error
	Shutdown(context.Context) error
}

// Flush exports what has not been exported yet, and waits for it.
func (t *Telemetry) Flush(ctx context.Context) (err error) {
	for _, e := range t.exporters() {
		err = errors.Join(err, e.ForceFlush(ctx))
	}
	return err
}

// Close exports what remains, for at most 2 seconds or OTEL_BSP_EXPORT_TIMEOUT. The error says
// why it was not exported.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, end := context.WithTimeout(ctx, t.closeTime)
	defer end()
	all := t.exporters()
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for n, e := range all {
		closing.Go(func() { errs[n] = e.Shutdown(ctx) })
	}
	closing.Wait()
	t.forgetEnded()
	err := errors.Join(errs...)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the collector does not answer, so some spans or metrics are not exported: %w", err)
	}
	return err
}
