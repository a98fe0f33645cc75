package otel

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/pexctl/pex/engine"
)

// Scrape has metrics served by HTTP, beside their export.
type Scrape struct {
	// Tenant is the default tenant, if the tenant is a label; "" = it is none.
	Tenant string
}

// Metrics are the metrics of a process. A nil *Metrics records nothing. All methods are safe
// for concurrent use and do not block.
type Metrics struct {
	instruments *instruments
	provider    *sdkmetric.MeterProvider
	meter       metric.Meter
	tenant      string       // the default one, if the tenant is a label
	handler     http.Handler // nil = metrics are not served
}

// openMetrics opens the metrics that a config and a Scrape ask for; nil if that is nothing.
func openMetrics(ctx context.Context, c *config, s *Scrape, described *resource.Resource, version string) (*Metrics, error) {
	if !c.metrics && s == nil {
		return nil, nil
	}
	m, options := &Metrics{}, []sdkmetric.Option{sdkmetric.WithResource(described), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
	if c.metrics {
		exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithHTTPClient(c.clients[metricsPrefix]))
		if err != nil {
			return nil, err
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	var scraped *scraper
	if s != nil {
		var err error
		if scraped, err = newScraper(); err != nil {
			return nil, err
		}
		m.tenant = s.Tenant
		options = append(options, sdkmetric.WithReader(scraped.exporter))
	}
	m.provider = sdkmetric.NewMeterProvider(options...)
	m.meter = m.provider.Meter("github.com/pexctl/pex", metric.WithInstrumentationVersion(version),
		metric.WithInstrumentationAttributes(attribute.String("pex.conventions", c.names.version)))
	var err error
	if m.instruments, err = newInstruments(m.meter, c.names, m.tenant != ""); err != nil {
		return nil, err
	}
	if scraped != nil {
		m.handler = scraped.handler(m.instruments.histograms)
	}
	return m, nil
}

// sink returns the sink of a session of a run.
func (m *Metrics) sink(p *engine.Program, in *engine.Input) engine.Sink { return newRunMeter(m, p, in) }

// Handler returns the handler of GET /metrics, or nil.
func (m *Metrics) Handler() http.Handler {
	if m == nil {
		return nil
	}
	return m.handler
}

// Request counts a response to an HTTP request. route is the pattern of its path; "" = there is
// none.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	attrs := []attribute.KeyValue{httpMethod.String(methodOf(method)), httpRoute.String(cmp.Or(route, "unmatched")), httpStatus.Int(status)}
	if status >= http.StatusInternalServerError {
		attrs = append(attrs, errorType.String(strconv.Itoa(status)))
	}
	m.instruments.requests.record(took.Seconds(), attrs...)
}

// methodOf returns a method, or _OTHER if it is unusual, as the conventions want.
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}

// Committed counts a group of journal records that became durable.
func (m *Metrics) Committed(took time.Duration) {
	if m != nil {
		m.instruments.commits.record(took.Seconds())
	}
}

// Refused counts a run that a limit of the server refused.
func (m *Metrics) Refused(reason string) {
	if m != nil {
		m.instruments.refusals.add(1, reasonLabel.String(reason))
	}
}

// Load is what the runs of a tenant do now.
type Load struct {
	Tenant    string
	Active    int // runs that execute
	Queued    int // runs that wait for their turn
	Questions int // open questions
	Watchers  int // requests that watch a run or wait for its result
}

// Observe calls load for each export and scrape. It must be fast.
func (m *Metrics) Observe(load func() []Load) error {
	if m == nil {
		return nil
	}
	i := m.instruments
	_, err := m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		all := load()
		for _, g := range []struct {
			gauge
			of func(*Load) int
		}{
			{i.active, func(l *Load) int { return l.Active }},
			{i.queued, func(l *Load) int { return l.Queued }},
			{i.questions, func(l *Load) int { return l.Questions }},
			{i.watchers, func(l *Load) int { return l.Watchers }},
		} {
			sums := map[attribute.Set]int64{} // several tenants may share a label
			for n := range all {
				var attrs []attribute.KeyValue
				if m.tenant != "" {
					attrs = append(attrs, tenantLabel.String(all[n].Tenant))
				}
				sums[g.labels.bound(attrs)] += int64(g.of(&all[n]))
			}
			for set, n := range sums {
				o.ObserveInt64(g.Int64ObservableGauge, n, metric.WithAttributeSet(set))
			}
		}
		return nil
	}, i.active.Int64ObservableGauge, i.queued.Int64ObservableGauge, i.questions.Int64ObservableGauge, i.watchers.Int64ObservableGauge)
	return err
}
