//go:build unix

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/syncbuffer"
)

// OTelCollector starts the OpenTelemetry Collector. It returns the URL of its receiver, and a
// function that returns what it has received, as text.
func OTelCollector(t testing.TB) (url string, received func() string) {
	t.Helper()
	address, config := freeAddress(t), filepath.Join(t.TempDir(), "collector.yaml")
	text := fmt.Sprintf(`receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [debug]}
    metrics: {receivers: [otlp], exporters: [debug]}
    logs: {receivers: [otlp], exporters: [debug]}
`, address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), cached(t, "bin", "collector"), "--config", config)
	out := &syncbuffer.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	start(t, cmd, "http://"+address)
	return "http://" + address, out.String
}

// CollectedSpan is a span as the collector prints it.
type CollectedSpan struct{ Trace, Parent, ID, Name string }

var collectedSpan = regexp.MustCompile(`(?m)^    Trace ID       : ?(\w*)\n    Parent ID      : ?(\w*)\n    ID             : ?(\w*)\n(?:    TraceState .*\n)?    Name           : (.*)$`)

// CollectedSpans returns the spans in the output of the collector.
func CollectedSpans(output string) (out []CollectedSpan) {
	for _, m := range collectedSpan.FindAllStringSubmatch(output, -1) {
		out = append(out, CollectedSpan{m[1], m[2], m[3], m[4]})
	}
	return out
}

// Prometheus starts Prometheus of Debian, which scrapes an address each second with the rules in
// a file, and returns its URL.
func Prometheus(t testing.TB, target, rules string) (url string) {
	t.Helper()
	address, dir := freeAddress(t), t.TempDir()
	text := fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - job_name: pexctl
    static_configs: [{targets: [%q]}]
`, rules, strings.TrimPrefix(target, "http://"))
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), cached(t, "prometheus", "usr", "bin", "prometheus"), "--config.file="+config,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address, "--log.level=warn")
	start(t, cmd, "http://"+address+"/-/ready")
	return "http://" + address
}

// Promtool runs promtool with a standard input, and returns its output.
func Promtool(t testing.TB, stdin io.Reader, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), cached(t, "prometheus", "usr", "bin", "promtool"), args...)
	cmd.Stdin = stdin
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Fetch returns the body of a response to GET.
func Fetch(t testing.TB, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, err, string(b))
	}
	return string(b)
}
