package otel

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// names are the names that differ between versions of OpenTelemetry's conventions for
// generative AI, which are all in development.
type names struct {
	version    string // of the conventions
	cacheWrite attribute.Key
	planning   string // gen_ai.operation.name of a turn of the planner or reflector; "" = none
	agentID    bool   // agents have gen_ai.agent.id

	modelDuration, firstChunkTime string         // metrics of model calls
	tokenUsage                    string         // histogram by gen_ai.token.type; "" = tokenCounters
	tokenCounters                 *tokenCounters // nil = tokenUsage
}

// tokenCounters are the names of counters of tokens.
type tokenCounters struct{ input, output, cacheRead, cacheWrite, reasoning string }

// released are the names of semantic-conventions v1.41.0, the last release with the
// conventions for generative AI. latest are those of semantic-conventions-genai v0.1.0.
var (
	released = names{
		version: "1.41.0", cacheWrite: "gen_ai.usage.cache_creation.input_tokens", agentID: true,
		modelDuration: "gen_ai.client.operation.duration", firstChunkTime: "gen_ai.client.operation.time_to_first_chunk",
		tokenUsage: "gen_ai.client.token.usage",
	}
	latest = names{
		version: "genai-0.1.0", cacheWrite: "gen_ai.usage.cache_write.input_tokens", planning: "plan",
		modelDuration: "gen_ai.client.inference.duration", firstChunkTime: "gen_ai.client.inference.time_to_first_chunk",
		tokenCounters: &tokenCounters{
			input: "gen_ai.client.inference.usage.input_tokens", output: "gen_ai.client.inference.usage.output_tokens",
			cacheRead: "gen_ai.client.inference.usage.cache_read.input_tokens", cacheWrite: "gen_ai.client.inference.usage.cache_write.input_tokens",
			reasoning: "gen_ai.client.inference.usage.reasoning.output_tokens",
		},
	}
)

// latestOptIn is the value of OTEL_SEMCONV_STABILITY_OPT_IN that selects latest.
const latestOptIn = "gen_ai_latest_experimental"

// namesOf returns the names that OTEL_SEMCONV_STABILITY_OPT_IN selects.
func namesOf(optIn string) *names {
	for v := range strings.SplitSeq(optIn, ",") {
		if strings.TrimSpace(v) == latestOptIn {
			return &latest
		}
	}
	return &released
}

// Names that both versions have. gen_ai.system is the name of gen_ai.provider.name before
// v1.37, which some backends still read.
const (
	operationName  = attribute.Key("gen_ai.operation.name")
	providerName   = attribute.Key("gen_ai.provider.name")
	systemName     = attribute.Key("gen_ai.system")
	agentName      = attribute.Key("gen_ai.agent.name")
	agentID        = attribute.Key("gen_ai.agent.id")
	agentVersion   = attribute.Key("gen_ai.agent.version")
	agentAbout     = attribute.Key("gen_ai.agent.description")
	conversationID = attribute.Key("gen_ai.conversation.id")
	sessionID      = attribute.Key("session.id")
	outputType     = attribute.Key("gen_ai.output.type")
	inputTokens    = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens   = attribute.Key("gen_ai.usage.output_tokens")
	cacheRead      = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	reasoning      = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	requestModel   = attribute.Key("gen_ai.request.model")
	temperature    = attribute.Key("gen_ai.request.temperature")
	topP           = attribute.Key("gen_ai.request.top_p")
	maxTokens      = attribute.Key("gen_ai.request.max_tokens")
	stopSequences  = attribute.Key("gen_ai.request.stop_sequences")
	seed           = attribute.Key("gen_ai.request.seed")
	responseModel  = attribute.Key("gen_ai.response.model")
	responseID     = attribute.Key("gen_ai.response.id")
	finishReasons  = attribute.Key("gen_ai.response.finish_reasons")
	firstChunk     = attribute.Key("gen_ai.response.time_to_first_chunk") // seconds
	toolName       = attribute.Key("gen_ai.tool.name")
	toolCallID     = attribute.Key("gen_ai.tool.call.id")
	requestStream  = attribute.Key("gen_ai.request.stream")
	toolType       = attribute.Key("gen_ai.tool.type")
	dimensionCount = attribute.Key("gen_ai.embeddings.dimension.count")
	promptName     = attribute.Key("gen_ai.prompt.name")
	mcpMethod      = attribute.Key("mcp.method.name")
	mcpVersion     = attribute.Key("mcp.protocol.version")
	mcpSession     = attribute.Key("mcp.session.id")
	rpcStatus      = attribute.Key("rpc.response.status_code")

	networkTransport = attribute.Key("network.transport")

	serverAddress  = attribute.Key("server.address")
	serverPort     = attribute.Key("server.port")
	workflowName   = attribute.Key("gen_ai.workflow.name")
	evaluationName = attribute.Key("gen_ai.evaluation.name")
	scoreValue     = attribute.Key("gen_ai.evaluation.score.value")
	scoreLabel     = attribute.Key("gen_ai.evaluation.score.label")
	errorType      = attribute.Key("error.type")
)

// Names of our own.
const (
	runID         = attribute.Key("pex.run_id")
	eventSeq      = attribute.Key("pex.event.seq") // number of the event that ended the span
	eventRewinds  = attribute.Key("pex.event.rewinds")
	specDigest    = attribute.Key("pex.spec.digest")
	runStatus     = attribute.Key("pex.status")
	stopCode      = attribute.Key("pex.stop_reason")
	stopPath      = attribute.Key("pex.stop_path")
	costUSD       = attribute.Key("pex.cost_usd")
	stepCount     = attribute.Key("pex.steps")
	replanCount   = attribute.Key("pex.replans")
	tenantName    = attribute.Key("pex.tenant")
	nestedAgent   = attribute.Key("pex.nested")
	effectPath    = attribute.Key("pex.path")
	llmName       = attribute.Key("pex.llm")
	roleName      = attribute.Key("pex.role")
	attemptCount  = attribute.Key("pex.attempts")
	stepID        = attribute.Key("pex.step.id")
	stepStatus    = attribute.Key("pex.step.status")
	latencySum    = attribute.Key("pex.latency_ms")     // of the model calls of a step or run
	slowestFirst  = attribute.Key("pex.first_token_ms") // the longest of a step
	stepAttempt   = attribute.Key("pex.step.attempt")
	planVersion   = attribute.Key("pex.plan.version")
	planSteps     = attribute.Key("pex.plan.steps")
	sessionEnd    = attribute.Key("pex.session.end")
	replayedCount = attribute.Key("pex.replayed")
	toolStatus    = attribute.Key("pex.tool.status")
	toolEffect    = attribute.Key("pex.effect")
	toolServer    = attribute.Key("pex.server")
	approvalKind  = attribute.Key("pex.approval") // granted, edited or denied
	approvedBy    = attribute.Key("pex.approved_by")
	fallbackIndex = attribute.Key("pex.fallback") // 1 = the first other LLM
	reservedCount = attribute.Key("pex.reserved_tokens")
	repairCount   = attribute.Key("pex.repairs")
	questionKind  = attribute.Key("pex.question.kind")
	questionWait  = attribute.Key("pex.question.wait_ms")
	questionDo    = attribute.Key("pex.question.decision")
	questionBy    = attribute.Key("pex.question.by")
	guardName     = attribute.Key("pex.guard.name")
	evalID        = attribute.Key("pex.eval.id")
	evalCase      = attribute.Key("pex.eval.case")
	evalVariant   = attribute.Key("pex.eval.variant")
	evalRepeat    = attribute.Key("pex.eval.repeat")
	evalVerdict   = attribute.Key("pex.eval.verdict")
	evalScore     = attribute.Key("pex.eval.score")
	evalTrials    = attribute.Key("pex.eval.trials")
	evalPassed    = attribute.Key("pex.eval.passed")
	evalFailed    = attribute.Key("pex.eval.failed")
	evalErrors    = attribute.Key("pex.eval.errors")
	guardAction   = attribute.Key("pex.guard.do")
)

// providers are the well-known values of gen_ai.provider.name by our providers; others keep
// their name.
var providers = map[string]string{
	"azure_openai": "azure.ai.openai", "bedrock": "aws.bedrock", "genai": "gcp.gemini", "mistral": "mistral_ai",
	"cohere": "cohere", "anthropic": "anthropic", "openai": "openai",
}

func providerOf(name string) string {
	if known, ok := providers[name]; ok {
		return known
	}
	return name
}
