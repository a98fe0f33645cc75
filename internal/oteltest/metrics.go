package oteltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// Metrics returns the metrics received so far, and forgets them.
func (c *Collector) Metrics() (out []*otlp.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range c.metrics {
		for _, scope := range resource.ScopeMetrics {
			out = append(out, scope.Metrics...)
		}
	}
	c.metrics = nil
	return out
}

// point is the sum of the values of a set of attributes.
type point struct {
	value float64
	count uint64 // of a histogram
}

// MetricText returns metrics as text, sorted: name, type, unit and description, and a line per
// set of attributes. Values of several exports are added, such as those of processes that each
// exported once. Of histograms it has the count, and the sum unless it is a time.
func MetricText(metrics []*otlp.Metric) string {
	all := map[string]map[string]point{}
	for _, m := range metrics {
		kind, points := pointsOf(m)
		title := fmt.Sprintf("%s (%s, %s): %s", m.Name, kind, m.Unit, m.Description)
		if all[title] == nil {
			all[title] = map[string]point{}
		}
		for attrs, p := range points {
			sum := all[title][attrs]
			all[title][attrs] = point{sum.value + p.value, sum.count + p.count}
		}
	}
	var b strings.Builder
	for _, title := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintln(&b, title)
		for _, attrs := range slices.Sorted(maps.Keys(all[title])) {
			p := all[title][attrs]
			text := fmt.Sprintf("%.6g", p.value)
			switch {
			case p.count > 0 && strings.Contains(title, ", s): "):
				text = fmt.Sprintf("%d values", p.count)
			case p.count > 0:
				text = fmt.Sprintf("%d values with sum %.6g", p.count, p.value)
			}
			fmt.Fprintf(&b, "    %s\n", strings.TrimSpace(attrs+" "+text))
		}
	}
	return b.String()
}

// pointsOf returns the type of a metric, and its points by attributes.
func pointsOf(m *otlp.Metric) (kind string, points map[string]point) {
	points = map[string]point{}
	switch d := m.Data.(type) {
	case *otlp.Metric_Sum:
		for _, p := range d.Sum.DataPoints {
			points[attributesLine(p.Attributes)] = point{value: number(p)}
		}
		return "counter", points
	case *otlp.Metric_Gauge:
		for _, p := range d.Gauge.DataPoints {
			points[attributesLine(p.Attributes)] = point{value: number(p)}
		}
		return "gauge", points
	case *otlp.Metric_Histogram:
		for _, p := range d.Histogram.DataPoints {
			points[attributesLine(p.Attributes)] = point{p.GetSum(), p.Count}
		}
		return "histogram", points
	}
	return fmt.Sprintf("%T", m.Data), nil
}

func attributesLine(attrs []*common.KeyValue) string {
	return strings.ReplaceAll(strings.TrimPrefix(attributesText(attrs), "\n"), "\n", " ")
}

func number(p *otlp.NumberDataPoint) float64 {
	if v, ok := p.Value.(*otlp.NumberDataPoint_AsInt); ok {
		return float64(v.AsInt)
	}
	return p.GetAsDouble()
}
