package otel

import (
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/otlptranslator"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
)

// maxScrapes is how many scrapes are served at once.
const maxScrapes = 4

// scraper serves metrics in the formats of Prometheus.
type scraper struct {
	registry *prometheus.Registry
	exporter *promexporter.Exporter
	scraped  map[string][]float64 // bounds by name of a histogram in Prometheus
}

func newScraper() (*scraper, error) {
	s := &scraper{registry: prometheus.NewRegistry(), scraped: map[string][]float64{}}
	var err error
	s.exporter, err = promexporter.New(promexporter.WithRegisterer(s.registry), promexporter.WithoutScopeInfo(),
		promexporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	return s, err
}

// handler returns the handler of GET /metrics.
func (s *scraper) handler(histograms []description) http.Handler {
	for _, d := range histograms {
		s.scraped[prometheusName(&d)] = d.scraped
	}
	return promhttp.HandlerFor(s, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes})
}

// prometheusName returns the name of a histogram in Prometheus.
func prometheusName(d *description) string {
	name := strings.ReplaceAll(d.name, ".", "_")
	if d.unit == "s" {
		name += "_seconds"
	}
	return name
}

// Gather implements prometheus.Gatherer. It removes buckets, whose counts are part of the next
// ones, so that a scrape has few series.
func (s *scraper) Gather() ([]*dto.MetricFamily, error) {
	families, err := s.registry.Gather()
	for _, f := range families {
		bounds, ok := s.scraped[f.GetName()]
		if !ok {
			continue
		}
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); h != nil {
				h.Bucket = slices.DeleteFunc(h.Bucket, func(b *dto.Bucket) bool { return !slices.Contains(bounds, b.GetUpperBound()) })
			}
		}
	}
	return families, err
}
