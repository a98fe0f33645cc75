package agui

import (
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
)

// protocolVersion is the version of AG-UI that the package speaks.
const protocolVersion = "1.0"

// event is an event of the protocol. Each type uses some of the fields.
type event struct {
	Type            string            `json:"type"`
	ThreadID        string            `json:"threadId,omitempty"`
	RunID           string            `json:"runId,omitempty"`
	ProtocolVersion string            `json:"protocolVersion,omitempty"`
	MessageID       string            `json:"messageId,omitempty"`
	Role            string            `json:"role,omitempty"`
	ToolCallID      string            `json:"toolCallId,omitempty"`
	ToolCallName    string            `json:"toolCallName,omitempty"`
	StepName        string            `json:"stepName,omitempty"`
	Delta           any               `json:"delta,omitempty"` // a text, or a JSON Patch
	Content         any               `json:"content,omitempty"`
	Snapshot        *state            `json:"snapshot,omitempty"`
	ActivityType    string            `json:"activityType,omitempty"`
	Patch           []operation       `json:"patch,omitempty"`
	Messages        []json.RawMessage `json:"messages,omitempty"`
	Name            string            `json:"name,omitempty"`
	Value           any               `json:"value,omitempty"`
	Outcome         *outcome          `json:"outcome,omitempty"`
	Result          *result           `json:"result,omitempty"`
	Usage           []tokenUsage      `json:"usage,omitempty"`
	Message         string            `json:"message,omitempty"`
	Code            string            `json:"code,omitempty"`
	Metadata        map[string]string `json:"metadata,omitempty"`
}

// state is the shared state of a thread: the plan of its latest run.
type state struct {
	Run   string        `json:"run_id"`
	Plan  int           `json:"plan"` // version; 0 = none
	Steps []step        `json:"steps"`
	Usage *engine.Usage `json:"usage,omitempty"` // once the run has ended
}

type step struct {
	ID     string      `json:"id"`
	Goal   string      `json:"goal"`
	Status plan.Status `json:"status"` // "" = not started
	Result string      `json:"result,omitempty"`
	Error  string      `json:"error,omitempty"`
}

// operation is an operation of a JSON Patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// outcome says how a run of the protocol finished.
type outcome struct {
	Type       string      `json:"type"` // success, interrupt or cancelled
	Interrupts []interrupt `json:"interrupts,omitempty"`
}

// interrupt is a question that waits for an answer.
type interrupt struct {
	ID             string            `json:"id"`
	Reason         string            `json:"reason"` // kind of the question
	Message        string            `json:"message"`
	ToolCallID     string            `json:"toolCallId,omitempty"`
	ResponseSchema json.RawMessage   `json:"responseSchema"`
	Metadata       map[string]string `json:"metadata"`
}

// result is what RUN_FINISHED returns.
type result struct {
	Run    string `json:"run_id"`
	Status string `json:"status"`
	Stop   string `json:"stop_reason,omitempty"`
	Answer string `json:"response"`
}

type tokenUsage struct {
	Model      string `json:"model"` // name of the LLM in the spec
	Input      int    `json:"inputTokens"`
	Output     int    `json:"outputTokens"`
	Total      int    `json:"totalTokens"`
	Reasoning  int    `json:"reasoningTokens,omitempty"`
	Cached     int    `json:"cachedInputTokens,omitempty"`
	CacheWrite int    `json:"cacheWriteInputTokens,omitempty"`
}

// toolMessage and assistantMessage are messages of a conversation.
type toolMessage struct {
	ID         string `json:"id"`
	Role       string `json:"role"`
	ToolCallID string `json:"toolCallId"`
	Content    string `json:"content"`
}

type assistantMessage struct {
	ID        string     `json:"id"`
	Role      string     `json:"role"`
	ToolCalls []toolCall `json:"toolCalls"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}
