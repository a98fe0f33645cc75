package payload

import (
	"context"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// blocking is the DataConverter of clients and workers. In a workflow, a payload that cannot be decoded panics, so that
// the task fails and is repeated until the key or the blob store is configured. An error would fail the workflow if it
// is its input, and be logged and lost if it is a signal.
type blocking struct {
	converter.DataConverter
	texts *panicTexts
}

var _ workflow.ContextAware = blocking{}

// WithWorkflowContext implements workflow.ContextAware.
func (b blocking) WithWorkflowContext(workflow.Context) converter.DataConverter { return panicking(b) }

// WithContext implements workflow.ContextAware.
func (b blocking) WithContext(context.Context) converter.DataConverter { return b.DataConverter }

// panicking panics with an *Error instead of returning it.
type panicking blocking

// FromPayload implements converter.DataConverter.
func (p panicking) FromPayload(from *commonpb.Payload, to any) error {
	return p.check(p.DataConverter.FromPayload(from, to))
}

// FromPayloads implements converter.DataConverter.
func (p panicking) FromPayloads(from *commonpb.Payloads, to ...any) error {
	return p.check(p.DataConverter.FromPayloads(from, to...))
}

func (p panicking) check(err error) error {
	if KindOf(err) != "" {
		p.texts.add(err.Error())
		panic(err)
	}
	return err
}

// HandlerContext returns a context for workflow.SetUpdateHandlerWithOptions and workflow.SetQueryHandler, with which an
// update or query that cannot be decoded is rejected: it must not stop a workflow.
func (c *Codec) HandlerContext(ctx workflow.Context) workflow.Context {
	return workflow.WithDataConverter(ctx, workflow.DataConverterWithoutDeadlockDetection(c.Converter()))
}

// panicTexts are the texts of the panics of panicking: the SDK keeps no more of them.
type panicTexts struct {
	mu   sync.Mutex
	seen map[string]bool
}

const maxPanicTexts = 1000

func (p *panicTexts) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil || len(p.seen) >= maxPanicTexts {
		p.seen = map[string]bool{}
	}
	p.seen[text] = true
}

func (p *panicTexts) has(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[text]
}

// failures is the FailureConverter of clients and workers with keys. It encrypts the texts of failures, except those of
// an *Error: a worker with a wrong key would encrypt with that key why it cannot work.
type failures struct {
	converter.FailureConverter
	texts *panicTexts
}

func newFailures(c *Codec, texts *panicTexts) failures {
	return failures{temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: c.Converter(), EncodeCommonAttributes: true,
	}), texts}
}

// ErrorToFailure implements converter.FailureConverter.
func (f failures) ErrorToFailure(err error) *failurepb.Failure {
	if err != nil && (KindOf(err) != "" || f.texts.has(err.Error())) {
		return temporal.GetDefaultFailureConverter().ErrorToFailure(err)
	}
	return f.FailureConverter.ErrorToFailure(err)
}
