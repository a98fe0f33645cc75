package otel

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
)

// captureVariable is the variable that opts in to content.
const captureVariable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

// captureOf returns whether a value of captureVariable has spans contain prompts, replies,
// arguments and results. The problem is "" unless something else is not exported.
func captureOf(value string) (onSpans bool, problem string) {
	switch strings.ToUpper(strings.TrimSpace(value)) {
	case "", "NO_CONTENT", "FALSE":
		return false, ""
	case "SPAN_ONLY", "TRUE":
		return true, ""
	case "EVENT_ONLY":
		return false, "events are not exported, so no content is; use SPAN_ONLY"
	case "SPAN_AND_EVENT":
		return true, "events are not exported, so only spans have content; use SPAN_ONLY"
	}
	return false, "unknown value, so no content is exported; use NO_CONTENT or SPAN_ONLY"
}

// Attributes with content. Their values are JSON.
const (
	systemInstructions = attribute.Key("gen_ai.system_instructions")
	inputMessages      = attribute.Key("gen_ai.input.messages")
	outputMessages     = attribute.Key("gen_ai.output.messages")
	toolDefinitions    = attribute.Key("gen_ai.tool.definitions")
	toolArguments      = attribute.Key("gen_ai.tool.call.arguments")
	toolResult         = attribute.Key("gen_ai.tool.call.result")
	toolDescription    = attribute.Key("gen_ai.tool.description") // text
	stepGoal           = attribute.Key("pex.step.goal")           // text
)

// content is what a span may show if the environment opts in. It refers to values of events,
// and is encoded when the span is exported.
type content struct {
	request  *model.Request
	reply    *model.Message
	stop     string
	args     []byte
	result   string
	about    string // of the tool
	goal     string // of the step
	question string // of the run
	answer   string
}

// captureStart keeps the content of an event that began a span.
func (r *runTracer) captureStart(ev *engine.Event) {
	switch ev.Type {
	case engine.RunStarted:
		if r.run != nil {
			r.run.content.question = ev.Question
		}
	case engine.ModelStarted:
		if s := r.find(modelSpan, ev.Path); s != nil {
			s.content.request = ev.Request
		}
		r.keepDescriptions(ev)
	case engine.StepStartedEvent:
		if s := r.find(stepSpan, ev.Path); s != nil {
			s.content.goal = ev.Step.Goal
		}
	default: // begins no span with content
	}
}

// keepDescriptions keeps the descriptions of tools that a request contains.
func (r *runTracer) keepDescriptions(ev *engine.Event) {
	if ev.Request == nil {
		return
	}
	if r.descriptions == nil {
		r.descriptions = map[string]string{}
	}
	for i := range ev.Request.Tools {
		t := &ev.Request.Tools[i]
		r.descriptions[ev.Agent+" "+t.Name] = t.Description
	}
}

// captureEnd keeps the content of an event that is about to end a span.
func (r *runTracer) captureEnd(ev *engine.Event) {
	switch ev.Type {
	case engine.ModelCompleted:
		if s := r.find(modelSpan, ev.Path); s != nil {
			s.content.reply, s.content.stop = ev.Message, ev.Status
		}
	case engine.ToolCompleted:
		if s := r.find(toolSpan, ev.Path); s != nil {
			s.content.args, s.content.result = ev.Args, ev.Text
		}
	case engine.RunCompleted:
		if r.run != nil {
			r.run.content.answer = ev.Text
		}
	default: // ends no span with content
	}
}

// encoder encodes content as the conventions say, without secrets.
type encoder struct {
	secrets *secret.Values
	limit   int // bytes of an attribute
}

// newEncoder returns the encoder of the content of runs of a program; nil if none is exported.
func (t *Telemetry) newEncoder(p *engine.Program) *encoder {
	if !t.content {
		return nil
	}
	e := &encoder{limit: spanLimits().AttributeValueLengthLimit}
	if t.secrets != nil {
		e.secrets = t.secrets(p)
	}
	return e
}

// attributes returns the attributes of the content of a span.
func (e encoder) attributes(c *content) (out []attribute.KeyValue) {
	add := func(key attribute.Key, value string) {
		if value != "" {
			out = append(out, key.String(value))
		}
	}
	if req := c.request; req != nil {
		system, rest := instructions(req.Messages)
		add(systemInstructions, e.list(partsOf(system)))
		add(inputMessages, e.list(messagesOf(rest)))
		add(toolDefinitions, e.definitions(req.Tools))
	}
	if c.reply != nil {
		add(outputMessages, e.list([]any{outputMessage{chatMessage{Role: string(model.Assistant), Parts: messageParts(c.reply)}, finishReason(c.stop)}}))
	}
	if c.question != "" {
		add(inputMessages, e.list([]any{chatMessage{Role: string(model.User), Parts: []any{textPart(c.question)}}}))
	}
	if c.answer != "" {
		add(outputMessages, e.list([]any{outputMessage{chatMessage{Role: string(model.Assistant), Parts: []any{textPart(c.answer)}}, finishReason("")}}))
	}
	if len(c.args) > 0 {
		add(toolArguments, e.object(string(c.args), "arguments"))
	}
	if c.result != "" {
		add(toolResult, e.object(c.result, "text"))
	}
	add(toolDescription, e.text(c.about))
	add(stepGoal, e.text(c.goal))
	return out
}

// finishReason returns the conventions' name of why a model stopped; "" = at the end of its
// turn.
func finishReason(status string) string {
	switch model.StopReason(status) {
	case model.EndTurn, model.StopSequence, "":
		return "stop"
	case model.ToolUse:
		return "tool_call"
	case model.MaxTokens:
		return "length"
	case model.ContentFiltered, model.Guardrail, model.Refusal:
		return "content_filter"
	default:
		return "error"
	}
}
