package otel

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Prefixes of the variables of an OTLP exporter: for all signals, and for one.
const (
	allSignals    = "OTEL_EXPORTER_OTLP_"
	tracesPrefix  = "OTEL_EXPORTER_OTLP_TRACES_"
	metricsPrefix = "OTEL_EXPORTER_OTLP_METRICS_"
)

// config is what the environment says; see
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. The SDK
// reads most variables itself, and ignores what it does not understand; check reports it.
type config struct {
	traces, metrics bool // exported by OTLP
	sampler         sdktrace.Sampler
	names           *names
	clients         map[string]*http.Client // of exporters, by prefix
	content         bool                    // on spans
	warnings        []error                 // of settings that only limit what is exported
}

// SettingError reports an environment variable that cannot be used.
type SettingError struct{ Variable, Reason string }

// Error returns the message with the variable. It does not contain the value, which may be
// a secret.
func (e *SettingError) Error() string { return e.Variable + ": " + e.Reason }

// readConfig reads the environment. The error joins a *SettingError per variable that cannot
// be used.
func readConfig(getenv func(string) string) (*config, error) {
	c := &config{names: namesOf(getenv("OTEL_SEMCONV_STABILITY_OPT_IN")), clients: map[string]*http.Client{}}
	if strings.EqualFold(strings.TrimSpace(getenv("OTEL_SDK_DISABLED")), "true") {
		return c, nil
	}
	env := environment{get: getenv}
	c.traces = env.exports("OTEL_TRACES_EXPORTER", tracesPrefix)
	c.metrics = env.exports("OTEL_METRICS_EXPORTER", metricsPrefix)
	if c.traces {
		env.checkExporter(tracesPrefix)
		c.clients[tracesPrefix] = env.client(tracesPrefix)
		env.checkNumbers("OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_EXPORT_TIMEOUT", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE")
		c.sampler = env.sampler()
	}
	if c.metrics {
		env.checkExporter(metricsPrefix)
		c.clients[metricsPrefix] = env.client(metricsPrefix)
		env.checkNumbers("OTEL_METRIC_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_TIMEOUT")
		env.checkWord(metricsPrefix+"TEMPORALITY_PREFERENCE", "cumulative", "delta", "lowmemory")
		env.checkWord(metricsPrefix+"DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram", "base2_exponential_bucket_histogram")
	}
	var problem string
	if c.content, problem = captureOf(getenv(captureVariable)); problem != "" {
		c.warnings = append(c.warnings, &SettingError{captureVariable, problem})
	}
	if c.traces || c.metrics {
		env.checkPairs("OTEL_RESOURCE_ATTRIBUTES", func(string, string) bool { return true })
	}
	return c, errors.Join(env.errs...)
}

// warn reports the warnings.
func (c *config) warn(report func(error)) {
	for _, w := range c.warnings {
		if report != nil {
			report(w)
		}
	}
}

// environment reads variables and collects what is wrong with them.
type environment struct {
	get  func(string) string
	errs []error
}

func (e *environment) value(name string) string { return strings.TrimSpace(e.get(name)) }

func (e *environment) reject(name, format string, args ...any) {
	err := &SettingError{name, fmt.Sprintf(format, args...)}
	if !slices.ContainsFunc(e.errs, func(other error) bool { return other.Error() == err.Error() }) {
		e.errs = append(e.errs, err)
	}
}

// exports reports whether a signal is exported by OTLP: if its exporter is named, or has an
// endpoint.
func (e *environment) exports(exporter, prefix string) bool {
	switch v := e.value(exporter); v {
	case "":
		return e.value(prefix+"ENDPOINT") != "" || e.value(allSignals+"ENDPOINT") != ""
	case "otlp":
		return true
	case "none":
	default:
		e.reject(exporter, "unknown exporter %.40q; use otlp or none", v)
	}
	return false
}

// checkExporter checks the variables of an exporter. Those of its signal come before those of
// all signals.
func (e *environment) checkExporter(prefix string) {
	each := func(name string, check func(variable, value string)) {
		for _, p := range []string{prefix, allSignals} {
			if v := e.value(p + name); v != "" {
				check(p+name, v)
				return
			}
		}
	}
	each("PROTOCOL", e.checkProtocol)
	each("ENDPOINT", e.checkEndpoint)
	each("HEADERS", func(variable, _ string) { e.checkPairs(variable, validHeader) })
	each("TIMEOUT", func(variable, _ string) { e.checkNumbers(variable) })
	each("COMPRESSION", func(variable, v string) {
		if v != "gzip" && v != "none" {
			e.reject(variable, "unknown compression %.40q; use gzip or none", v)
		}
	})
	each("CERTIFICATE", func(variable, v string) {
		if b, err := os.ReadFile(v); err != nil {
			e.reject(variable, "%v", err)
		} else if !x509.NewCertPool().AppendCertsFromPEM(b) {
			e.reject(variable, "%s has no certificate in PEM form", v)
		}
	})
}

func (e *environment) checkProtocol(variable, v string) {
	switch v {
	case "http/protobuf":
	case "grpc":
		e.reject(variable, "grpc is not supported; use http/protobuf, and the collector's port for it (usually 4318, not 4317)")
	default:
		e.reject(variable, "unknown protocol %.40q; use http/protobuf", v)
	}
}

func (e *environment) checkEndpoint(variable, v string) {
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		e.reject(variable, "not an http or https address, such as http://localhost:4318")
	case u.User != nil:
		e.reject(variable, "the address contains credentials; use %sHEADERS", allSignals)
	}
}

func validHeader(name, value string) bool {
	const symbols = "!#$%&'*+-.^_`|~" // of a token, RFC 9110
	for _, c := range []byte(name) {
		isToken := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(symbols, c) >= 0
		if !isToken {
			return false
		}
	}
	isControl := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return !strings.ContainsFunc(value, isControl) && !slices.Contains(reserved, http.CanonicalHeaderKey(name))
}

// reserved are headers that the exporter sets.
var reserved = []string{"Content-Length", "Content-Type", "Content-Encoding", "Host", "Transfer-Encoding"}

// checkPairs checks a list of pairs, such as k1=v1,k2=v2, whose values are percent-encoded.
func (e *environment) checkPairs(variable string, valid func(name, value string) bool) {
	for pair := range strings.SplitSeq(e.value(variable), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || name == "" || err != nil || !valid(name, value) {
			e.reject(variable, "the pair for %.40q is not valid; use name=value, separated by commas, with values percent-encoded", name)
		}
	}
}

// checkWord checks a variable with a fixed set of values.
func (e *environment) checkWord(variable string, words ...string) {
	if v := e.value(variable); v != "" && !slices.Contains(words, strings.ToLower(v)) {
		e.reject(variable, "unknown value %.40q; use %s", v, strings.Join(words, " or "))
	}
}

// checkNumbers checks numbers of milliseconds or elements.
func (e *environment) checkNumbers(variables ...string) {
	for _, name := range variables {
		v := e.value(name)
		if v == "" {
			continue
		}
		if n, err := strconv.Atoi(v); err != nil || n <= 0 {
			e.reject(name, "not a whole number above 0")
		}
	}
}

// sampler returns the sampler of OTEL_TRACES_SAMPLER.
func (e *environment) sampler() sdktrace.Sampler {
	const variable = "OTEL_TRACES_SAMPLER"
	name, ofParent := strings.CutPrefix(e.value(variable), "parentbased_")
	var s sdktrace.Sampler
	switch name {
	case "":
		s, ofParent = sdktrace.AlwaysSample(), true
	case "always_on":
		s = sdktrace.AlwaysSample()
	case "always_off":
		s = sdktrace.NeverSample()
	case "traceidratio":
		s = sdktrace.TraceIDRatioBased(e.ratio())
	default:
		e.reject(variable, "unknown sampler %.40q; use always_on, always_off or traceidratio, also with parentbased_ before it", e.value(variable))
		return sdktrace.NeverSample()
	}
	if ofParent {
		return sdktrace.ParentBased(s)
	}
	return s
}

func (e *environment) ratio() float64 {
	const variable = "OTEL_TRACES_SAMPLER_ARG"
	v := e.value(variable)
	if v == "" {
		return 1
	}
	ratio, err := strconv.ParseFloat(v, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		e.reject(variable, "not a number from 0 to 1")
		return 0
	}
	return ratio
}
