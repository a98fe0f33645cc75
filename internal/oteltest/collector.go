package oteltest

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlpmetrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a collector that speaks OTLP over HTTP and stores the spans and metrics that it
// receives.
type Collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*otlp.Span
	metrics []*otlpmetrics.ResourceMetrics
	errs    []string
}

// New starts a collector, which the test stops. What is wrong with a request is an error of the
// test.
func New(t *testing.T) *Collector {
	c := &Collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(func() {
		c.Close()
		for _, e := range c.errs {
			t.Error(e)
		}
	})
	return c
}

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			c.errs = append(c.errs, err.Error())
			return
		}
		body = z
	}
	b, err := io.ReadAll(body)
	if err == nil {
		err = c.store(r.URL.Path, b)
	}
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.errs = append(c.errs, fmt.Sprintf("%s %s: %v", r.URL.Path, r.Header.Get("Content-Type"), err))
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// store stores the body of a request. The caller holds mu.
func (c *Collector) store(path string, body []byte) error {
	switch path {
	case "/v1/traces":
		var request collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &request); err != nil {
			return err
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		return nil
	case "/v1/metrics":
		var request collectmetrics.ExportMetricsServiceRequest
		err := proto.Unmarshal(body, &request)
		c.metrics = append(c.metrics, request.ResourceMetrics...)
		return err
	default:
		return errors.New("unknown path")
	}
}

// Spans returns the spans received so far, and forgets them.
func (c *Collector) Spans() []*otlp.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.spans
	c.spans = nil
	return out
}

// Tree returns spans as indented text in the order of their starts, without what differs
// from run to run.
func Tree(t *testing.T, spans []*otlp.Span) string {
	t.Helper()
	known := map[string]bool{}
	for _, s := range spans {
		if id := string(s.SpanId); known[id] {
			t.Errorf("span %s %s exported twice", s.Name, hex.EncodeToString(s.SpanId))
		} else {
			known[id] = true
		}
	}
	sorted := slices.Clone(spans)
	slices.SortStableFunc(sorted, func(a, b *otlp.Span) int {
		if a.StartTimeUnixNano != b.StartTimeUnixNano {
			return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) //nolint:gosec // times of one test
		}
		return strings.Compare(a.Name+attributesText(a.Attributes), b.Name+attributesText(b.Attributes))
	})
	var b strings.Builder
	var write func(parent []byte, depth int)
	write = func(parent []byte, depth int) {
		for _, s := range sorted {
			isRoot := !known[string(s.ParentSpanId)]
			if depth == 0 && !isRoot || depth > 0 && !bytes.Equal(s.ParentSpanId, parent) {
				continue
			}
			indent := strings.Repeat("  ", depth)
			status := ""
			if s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR {
				status = " ERROR"
			}
			fmt.Fprintf(&b, "%s%s [%s]%s\n", indent, s.Name, strings.ToLower(strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_")), status)
			b.WriteString(strings.ReplaceAll(attributesText(s.Attributes), "\n", "\n"+indent+"    ")[1:])
			for _, e := range s.Events {
				fmt.Fprintf(&b, "\n%s    event %s%s", indent, e.Name, strings.ReplaceAll(attributesText(e.Attributes), "\n", " "))
			}
			b.WriteString("\n")
			if s.EndTimeUnixNano < s.StartTimeUnixNano {
				t.Errorf("span %s ends before it starts", s.Name)
			}
			write(s.SpanId, depth+1)
		}
	}
	write(nil, 0)
	return b.String()
}

var changing = regexp.MustCompile(`^(pex\.run_id|pex\.spec\.digest|gen_ai\.conversation\.id|session\.id|pex\.question\.wait_ms|pex\.question\.by|pex\.approved_by)$`)

func attributesText(attrs []*common.KeyValue) string {
	var lines []string
	for _, a := range attrs {
		v := fmt.Sprint(valueOf(a.Value))
		if changing.MatchString(a.Key) {
			v = "..."
		}
		lines = append(lines, "\n"+a.Key+"="+v)
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func valueOf(v *common.AnyValue) any {
	switch x := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return x.StringValue
	case *common.AnyValue_IntValue:
		return x.IntValue
	case *common.AnyValue_DoubleValue:
		return x.DoubleValue
	case *common.AnyValue_BoolValue:
		return x.BoolValue
	case *common.AnyValue_ArrayValue:
		var all []any
		for _, e := range x.ArrayValue.Values {
			all = append(all, valueOf(e))
		}
		return all
	}
	return v
}
