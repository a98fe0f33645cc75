package exprenv

// The structs below are the variables of expressions. Their expr tags define the
// language; doc, enum and of (what strings name) document it. dsl/guard checks
// expressions against them. A guard is evaluated with a map from these names to values:
//
//	parameters map[string]any, run Run, plan Plan, step Step,
//	tool Tool, reply Reply, output any, memory Memory, trace Trace
//
// Numbers in arguments are json.Number, with the digits that the tool receives.

// Run is `run`: counters of the whole run.
type Run struct {
	StepsExecuted int     `expr:"steps_executed" doc:"Steps that ran, in all."`
	Replans       int     `expr:"replans" doc:"Plans that took the place of one before."`
	Tokens        int     `expr:"tokens" doc:"Tokens of all model calls, in and out."`
	Cost          float64 `expr:"cost" doc:"What the model calls cost, in USD by the prices of the llms."`
	Elapsed       float64 `expr:"elapsed" doc:"Active seconds since the run began; a wait for a person is none."`
	ModelCalls    int     `expr:"model_calls" doc:"Model calls so far."`
	ToolCalls     int     `expr:"tool_calls" doc:"Tool calls so far."`
	NoProgress    int     `expr:"no_progress" doc:"Steps in a row that were not ok, or gave an earlier result again."`

	Calls []RunCall `expr:"calls" doc:"The tool calls of the run before this one: first those that ended, in the order in which their results came, then those still in flight."`
}

// RunCall is one element of `run.calls`.
type RunCall struct {
	Step   string         `expr:"step" doc:"The id of the step that made the call; empty outside of steps."`
	Tool   string         `expr:"tool" of:"tool" doc:"The name of the tool."`
	Args   map[string]any `expr:"args" doc:"The arguments of the call."`
	Status string         `expr:"status" enum:"ok|error|denied|timeout|unknown|running" doc:"How the call ended; running while it is in flight or waits for approval."`
}

// Plan is `plan`.
type Plan struct {
	Version   int    `expr:"version" doc:"How many plans were taken over so far."`
	Steps     []Step `expr:"steps" doc:"All steps of the plan, in its order."`
	Completed []Step `expr:"completed" doc:"The steps that came to an end."`
	Remaining []Step `expr:"remaining" doc:"The steps that are still to run."`
}

// Step is `step`.
type Step struct {
	ID        string   `expr:"id" json:"id" doc:"The name of the step: s1."`
	Goal      string   `expr:"goal" json:"goal" doc:"What the step is to reach."`
	Status    string   `expr:"status" json:"status" enum:"ok|failed|limit|loop|timeout|cancelled|skipped|needs_review" doc:"How it ended; empty while it has not."`
	Attempts  int      `expr:"attempts" json:"attempts" doc:"How often it was tried."`
	Result    string   `expr:"result" json:"result" doc:"What it gave, as text."`
	Output    any      `expr:"output" json:"output" doc:"The result parsed as JSON where it is JSON, else the text."`
	Error     string   `expr:"error" json:"error" doc:"Why it failed; empty when it did not."`
	Tools     []string `expr:"tools" json:"tools" of:"tool" doc:"The tools that the plan names for it."`
	ToolCalls int      `expr:"tool_calls" json:"tool_calls" doc:"Tool calls of the step."`
}

// Tool is `tool`.
type Tool struct {
	Name     string         `expr:"name" of:"tool" doc:"The name of the tool, server__tool for those of servers."`
	Effect   string         `expr:"effect" enum:"read|idempotent|write" doc:"What a call does to the world: read, idempotent or write."`
	Args     map[string]any `expr:"args" doc:"The arguments of the call, with what the spec fixes."`
	Result   any            `expr:"result" doc:"What the call gave: JSON where it is JSON."`
	Error    string         `expr:"error" doc:"Why the call failed; empty when it did not."`
	Attempts int            `expr:"attempts" doc:"How often the call was tried."`
}

// Reply is `reply`: the last reply of the planner or reflector.
type Reply struct {
	Text   string   `expr:"text" doc:"The reply as the model wrote it."`
	Steps  []string `expr:"steps" doc:"The goals of the steps that it plans."`
	Result string   `expr:"result" doc:"The answer that it gives; empty when it plans on."`
}

// Memory is `memory`.
type Memory struct {
	Tokens   int `expr:"tokens" doc:"The size of the request, in tokens: characters / 4."`
	Messages int `expr:"messages" doc:"The messages of the request."`
}

// Trace is `trace` in tests and checks; its JSON has the same names.
type Trace struct {
	Steps      []Step              `expr:"steps" json:"steps" doc:"The steps that ran, in their order."`
	Tools      map[string]ToolUses `expr:"tools" json:"tools" of:"tool" doc:"The calls of each tool, by its name."`
	Calls      []Call              `expr:"calls" json:"calls" doc:"The tool calls, step by step."`
	ModelCalls int                 `expr:"model_calls" json:"model_calls" doc:"Model calls of the run."`
	ToolCalls  int                 `expr:"tool_calls" json:"tool_calls" doc:"Tool calls of the run."`
	Replans    int                 `expr:"replans" json:"replans" doc:"Plans that took the place of one before."`
	Prompts    []string            `expr:"prompts" json:"prompts,omitempty" doc:"The prompts that were sent, as text."`
	Status     string              `expr:"status" json:"status" enum:"completed|stopped|interrupted|failed|cancelled" doc:"How the run ended: completed, stopped, interrupted, failed or cancelled."`
	StopReason string              `expr:"stop_reason" json:"stop_reason" doc:"The code of the reason that it ended for."`
	Response   string              `expr:"response" json:"response" doc:"The answer as text."`
	Warnings   []string            `expr:"warnings" json:"warnings" doc:"What the run warned of."`
	Cost       float64             `expr:"cost" json:"cost" doc:"What the model calls cost, in USD."`
	Tokens     int                 `expr:"tokens" json:"tokens" doc:"Tokens of all model calls, in and out."`
}

// Call is a tool call of a trace.
type Call struct {
	Step   string         `expr:"step" json:"step" doc:"The id of the step that made the call."`
	Tool   string         `expr:"tool" json:"tool" of:"tool" doc:"The name of the tool."`
	Args   map[string]any `expr:"args" json:"args" doc:"The arguments of the call."`
	Status string         `expr:"status" json:"status" enum:"ok|error|denied|timeout|unknown" doc:"How the call ended."`
	Result any            `expr:"result" json:"result" doc:"What it gave."`
}

// ToolUses counts the calls of one tool.
type ToolUses struct {
	Calls  int `expr:"calls" json:"calls" doc:"How often the tool was called."`
	Errors int `expr:"errors" json:"errors" doc:"How many of the calls failed."`
}
