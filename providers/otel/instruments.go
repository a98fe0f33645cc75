package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// The bounds of histograms. Those of model calls and requests are those of the conventions.
var (
	modelBounds    = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	requestBounds  = []float64{.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	runBounds      = []float64{.1, 1, 5, 10, 30, 60, 300, 600, 1800, 3600}
	questionBounds = []float64{1, 10, 60, 300, 900, 3600, 14400, 86400}
	commitBounds   = []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1}
)

// description is what an instrument is.
type description struct {
	name, unit, about string

	bounds  []float64 // of a histogram
	scraped []float64 // those of its bounds that GET /metrics has

	most int // sets of labels within the budget; 0 = all labels have a fixed number of values
	rest int // sets of labels beside these
}

// cost returns how many series a set of labels has in GET /metrics.
func (d *description) cost() int {
	if d.bounds == nil {
		return 1
	}
	return len(d.scraped) + 3 // the last bucket, the sum and the count
}

// instruments are the metrics of a process.
type instruments struct {
	names *names

	modelDuration, firstChunk, runDuration, questionWait, commits, requests histogram
	tokenUsage                                                              histogram // unused without names.tokenUsage
	tokens                                                                  [5]counter
	runs, steps, toolCalls, refusals                                        counter
	cost                                                                    amount

	active, queued, questions, watchers gauge
	histograms                          []description
	err                                 error
}

type histogram struct {
	metric.Float64Histogram
	labels *labels
}

func (h histogram) record(v float64, attrs ...attribute.KeyValue) {
	h.Record(context.Background(), v, metric.WithAttributeSet(h.labels.bound(attrs)))
}

type counter struct {
	metric.Int64Counter
	labels *labels
}

func (c counter) add(n int64, attrs ...attribute.KeyValue) {
	c.Add(context.Background(), n, metric.WithAttributeSet(c.labels.bound(attrs)))
}

type amount struct {
	metric.Float64Counter
	labels *labels
}

func (a amount) add(v float64, attrs ...attribute.KeyValue) {
	a.Add(context.Background(), v, metric.WithAttributeSet(a.labels.bound(attrs)))
}

type gauge struct {
	metric.Int64ObservableGauge
	labels *labels
}

// newInstruments creates the instruments. hasTenants is whether the tenant is a label.
func newInstruments(m metric.Meter, n *names, hasTenants bool) (*instruments, error) {
	b := &budget{left: maxSeries - 1} // target_info
	i := &instruments{names: n}
	i.modelDuration = i.histogram(m, b, description{
		name: n.modelDuration, unit: "s", about: "Duration of model calls, with their retries.",
		bounds: modelBounds, scraped: []float64{1.28, 5.12, 20.48}, most: 12, rest: 2,
	})
	i.firstChunk = i.histogram(m, b, description{
		name: n.firstChunkTime, unit: "s", about: "Time from the request to the first chunk of a streamed reply.",
		bounds: modelBounds, scraped: []float64{.32, 1.28, 5.12}, most: 6, rest: 1,
	})
	i.addTokens(m, b)
	i.runDuration = i.histogram(m, b, description{
		name: "pex.run.duration", unit: "s", about: "Active time of runs that ended, without the time that they waited for people.",
		bounds: runBounds, scraped: []float64{1, 10, 60, 600}, rest: 1,
	})
	i.questionWait = i.histogram(m, b, description{
		name: "pex.question.wait", unit: "s", about: "Time from a question to its answer.",
		bounds: questionBounds, scraped: []float64{60, 3600, 86400}, rest: 1,
	})
	i.commits = i.histogram(m, b, description{
		name: "pex.journal.commit.duration", unit: "s", about: "Time to make a group of journal records durable.",
		bounds: commitBounds, scraped: []float64{.001, .01, .1}, rest: 1,
	})
	i.requests = i.histogram(m, b, description{
		name: "http.server.request.duration", unit: "s", about: "Duration of HTTP requests; that of an event stream is until its end.",
		bounds: requestBounds, scraped: []float64{1}, most: 24, rest: 4,
	})
	i.runs = i.counter(m, b, description{name: "pex.runs", unit: "{run}", about: "Runs that ended.", most: 40, rest: 4})
	i.steps = i.counter(m, b, description{name: "pex.steps", unit: "{step}", about: "Steps that ended.", rest: 8})
	i.toolCalls = i.counter(m, b, description{name: "pex.tool.calls", unit: "{call}", about: "Tool calls that ended.", most: 40, rest: 5})
	i.refusals = i.counter(m, b, description{name: "pex.budget.refused", unit: "{run}", about: "Runs that a limit of the server refused to start or continue.", rest: 4})
	cost := description{name: "pex.run.cost_usd", unit: "{USD}", about: "Cost of runs in US dollars.", most: 16, rest: 1}
	var err error
	i.cost.Float64Counter, err = m.Float64Counter(cost.name, metric.WithUnit(cost.unit), metric.WithDescription(cost.about))
	i.cost.labels = newLabels(b, cost.cost(), cost.most, cost.rest)
	i.err = errors.Join(i.err, err)
	i.addGauges(m, b, hasTenants)
	return i, i.err
}

// addTokens creates the instruments of tokens: a histogram, or a counter per category.
func (i *instruments) addTokens(m metric.Meter, b *budget) {
	if i.names.tokenUsage != "" {
		i.tokenUsage = i.histogram(m, b, description{
			name: i.names.tokenUsage, unit: "{token}", about: "Tokens of model calls.", bounds: tokenBounds, most: 12, rest: 2,
		})
		return
	}
	c := i.names.tokenCounters
	for n, d := range []description{
		{name: c.input, about: "Input tokens."},
		{name: c.output, about: "Output tokens."},
		{name: c.cacheRead, about: "Input tokens that the provider read from its cache."},
		{name: c.cacheWrite, about: "Input tokens that the provider wrote to its cache."},
		{name: c.reasoning, about: "Output tokens used for reasoning."},
	} {
		d.unit, d.most, d.rest = "{token}", 6, 1
		i.tokens[n] = i.counter(m, b, d)
	}
}

func (i *instruments) addGauges(m metric.Meter, b *budget, hasTenants bool) {
	for _, g := range []struct {
		to *gauge
		description
	}{
		{&i.active, description{name: "pex.runs.active", unit: "{run}", about: "Runs that execute, or wait within their session."}},
		{&i.queued, description{name: "pex.runs.queued", unit: "{run}", about: "Runs that wait for their turn."}},
		{&i.questions, description{name: "pex.questions.open", unit: "{question}", about: "Questions that wait for an answer."}},
		{&i.watchers, description{name: "pex.feed.watchers", unit: "{watcher}", about: "Clients that watch a run or wait for its result."}},
	} {
		if g.rest = 1; hasTenants {
			g.most = 8
		}
		var err error
		g.to.Int64ObservableGauge, err = m.Int64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.about))
		g.to.labels = newLabels(b, 1, g.most, g.rest)
		i.err = errors.Join(i.err, err)
	}
}

func (i *instruments) histogram(m metric.Meter, b *budget, d description) histogram {
	h, err := m.Float64Histogram(d.name, metric.WithUnit(d.unit), metric.WithDescription(d.about), metric.WithExplicitBucketBoundaries(d.bounds...))
	i.err = errors.Join(i.err, err)
	i.histograms = append(i.histograms, d)
	return histogram{h, newLabels(b, d.cost(), d.most, d.rest)}
}

func (i *instruments) counter(m metric.Meter, b *budget, d description) counter {
	c, err := m.Int64Counter(d.name, metric.WithUnit(d.unit), metric.WithDescription(d.about))
	i.err = errors.Join(i.err, err)
	return counter{c, newLabels(b, d.cost(), d.most, d.rest)}
}
