package otel

import (
	"context"
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
)

// Options configure Open.
type Options struct {
	Getenv   func(string) string   // reads the environment; the SDK reads that of the process
	Version  string                // of pexctl
	Now      func() time.Time      // nil = time.Now
	Warn     func(error)           // called once with the first failure of an export; nil = not reported
	Exporter sdktrace.SpanExporter // receives each span at its end, in place of a collector; nil = none
}

// Telemetry exports traces. A nil *Telemetry exports nothing.
type Telemetry struct {
	names   *names
	sampler sdktrace.Sampler
	traces  *sdktrace.TracerProvider
	tracer  trace.Tracer
	now     func() time.Time

	closeTime time.Duration

	mu   sync.Mutex
	runs map[string]*watched
}

// closeTime is how long Close waits for the collector, unless OTEL_BSP_EXPORT_TIMEOUT says.
const closeTime = 2 * time.Second

// Open returns what the environment configures, or nil if that is nothing. The error joins a
// *SettingError per variable that cannot be used; nothing is exported then.
func Open(ctx context.Context, o Options) (*Telemetry, error) {
	c, err := readConfig(o.Getenv)
	if err != nil || !c.traces && o.Exporter == nil {
		return nil, err
	}
	exporter, sampler := o.Exporter, sdktrace.ParentBased(sdktrace.AlwaysSample())
	if c.traces {
		sampler = c.sampler
		if exporter, err = otlptracehttp.New(ctx); err != nil {
			return nil, err
		}
	}
	described, err := describe(ctx, o.Version)
	if err != nil {
		return nil, errors.Join(err, exporter.Shutdown(ctx))
	}
	if o.Warn != nil {
		var once sync.Once
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { once.Do(func() { o.Warn(err) }) }))
	}
	t := &Telemetry{names: c.names, sampler: sampler, now: o.Now, runs: map[string]*watched{}}
	if t.now == nil {
		t.now = time.Now
	}
	t.closeTime = closeTime
	if ms, err := strconv.Atoi(o.Getenv("OTEL_BSP_EXPORT_TIMEOUT")); err == nil {
		t.closeTime = time.Duration(ms) * time.Millisecond
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
	return t, nil
}

// describe returns the attributes of this process; those of OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES come first.
func describe(ctx context.Context, version string) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "pexctl"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv(),
	)
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

// Sinks returns the sinks that export a session of a run; none if the run is not sampled. marks
// are those of the run's home.
func (t *Telemetry) Sinks(p *engine.Program, in *engine.Input, marks Marks) []engine.Sink {
	if t == nil {
		return nil
	}
	r := newRunTracer(t, p, in)
	if !r.isSampled() {
		return nil
	}
	r.mark, r.isMarked = t.watch(in.RunID, marks)
	return []engine.Sink{r}
}

// Flush exports what has not been exported yet, and waits for it.
func (t *Telemetry) Flush(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.traces.ForceFlush(ctx)
}

// Close exports what remains, for at most 2 seconds or OTEL_BSP_EXPORT_TIMEOUT. The error says
// why it was not exported.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, end := context.WithTimeout(ctx, t.closeTime)
	defer end()
	err := t.traces.Shutdown(ctx)
	t.forgetEnded()
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the collector does not answer, so some spans are not exported: %w", err)
	}
	return err
}
