package exprenv

// The structs below are the variables of expressions. Their expr tags define the
// language; doc, enum and of (what strings name) document it. dsl/guard checks
// expressions against them. A guard is evaluated with a map from these names to values:
//
//	parameters map[string]any, run Run, plan Plan, step Step,
//	tool Tool, reply Reply, output any, memory Memory, trace Trace, by Actor
//
// Numbers in arguments are json.Number, with the digits that the tool receives.

// Run is `run`: counters of the whole run.
type Run struct {
	StepsExecuted int     `expr:"steps_executed" doc:"The number of steps that ran."`
	Replans       int     `expr:"replans" doc:"The number of times a plan was replaced."`
	Tokens        int     `expr:"tokens" doc:"The tokens of all model calls, input and output."`
	Cost          float64 `expr:"cost" doc:"The cost of the model calls, in USD."`
	Elapsed       float64 `expr:"elapsed" doc:"The active seconds since the start of the run, without waiting for humans."`
	ModelCalls    int     `expr:"model_calls" doc:"The number of model calls so far."`
	ToolCalls     int     `expr:"tool_calls" doc:"The number of tool calls so far."`
	NoProgress    int     `expr:"no_progress" doc:"The number of consecutive steps that failed or repeated an earlier result."`

	Calls []RunCall `expr:"calls" doc:"The tool calls of the run before this one: first those that ended, in the order of their results, then those still in flight."`
}

// Actor is `by`: who answers a question.
type Actor struct {
	Subject string   `expr:"subject" doc:"The account of the operating system, the name of a token, or the subject of an OpenID Connect issuer."`
	Issuer  string   `expr:"issuer" doc:"What vouches for the subject: local (the operating system), tokens (the token file of a server), or the URL of an OpenID Connect issuer."`
	Roles   []string `expr:"roles" doc:"The roles of a client of a server. Empty on the command line."`
	Tenant  string   `expr:"tenant" doc:"The tenant of a client of a server. Empty on the command line."`
}

// AskedRun is `run` in rules about who may answer a question.
type AskedRun struct {
	By Actor `expr:"by" doc:"Who started the run. Its roles and tenant are not stored."`
}

// RunCall is one element of `run.calls`.
type RunCall struct {
	Step   string         `expr:"step" doc:"The id of the step that made the call. Empty outside of steps."`
	Tool   string         `expr:"tool" of:"tool" doc:"The name of the tool."`
	Args   map[string]any `expr:"args" doc:"The arguments of the call."`
	Status string         `expr:"status" enum:"ok|error|denied|timeout|unknown|running" doc:"The status of the call. running while it is in flight or waits for approval."`
}

// Plan is `plan`.
type Plan struct {
	Version   int    `expr:"version" doc:"The number of plans so far."`
	Steps     []Step `expr:"steps" doc:"All steps of the plan, in order."`
	Completed []Step `expr:"completed" doc:"The steps that have ended."`
	Remaining []Step `expr:"remaining" doc:"The steps that have not run yet."`
}

// Step is `step`.
type Step struct {
	ID        string   `expr:"id" json:"id" doc:"The id of the step, such as s1."`
	Goal      string   `expr:"goal" json:"goal" doc:"The goal of the step."`
	Status    string   `expr:"status" json:"status" enum:"ok|failed|limit|loop|timeout|cancelled|skipped|needs_review" doc:"The status of the step. Empty until it has ended."`
	Attempts  int      `expr:"attempts" json:"attempts" doc:"The number of attempts."`
	Result    string   `expr:"result" json:"result" doc:"The result as text."`
	Output    any      `expr:"output" json:"output" doc:"The result parsed as JSON if it is JSON, otherwise the text."`
	Error     string   `expr:"error" json:"error" doc:"The error. Empty if the step did not fail."`
	Tools     []string `expr:"tools" json:"tools" of:"tool" doc:"The tools that the plan names for the step."`
	ToolCalls int      `expr:"tool_calls" json:"tool_calls" doc:"The number of tool calls of the step."`
}

// Tool is `tool`.
type Tool struct {
	Name     string         `expr:"name" of:"tool" doc:"The name of the tool. server__tool for a tool of an MCP server."`
	Effect   string         `expr:"effect" enum:"read|idempotent|write" doc:"The side effect of a call: read, idempotent or write."`
	Args     map[string]any `expr:"args" doc:"The arguments of the call, including those fixed in the spec."`
	Result   any            `expr:"result" doc:"The result of the call, parsed if it is JSON."`
	Error    string         `expr:"error" doc:"The error. Empty if the call did not fail."`
	Attempts int            `expr:"attempts" doc:"The number of attempts."`
}

// Reply is `reply`: the last reply of the planner or reflector.
type Reply struct {
	Text   string   `expr:"text" doc:"The text of the reply."`
	Steps  []string `expr:"steps" doc:"The goals of the planned steps."`
	Result string   `expr:"result" doc:"The answer in the reply. Empty if the reply contains a plan."`
}

// Memory is `memory`.
type Memory struct {
	Tokens   int `expr:"tokens" doc:"The estimated size of the request, in tokens: characters / 4."`
	Messages int `expr:"messages" doc:"The number of messages in the request."`
}

// Trace is `trace` in tests and checks; its JSON has the same names.
type Trace struct {
	Steps      []Step              `expr:"steps" json:"steps" doc:"The steps that ran, in order."`
	Tools      map[string]ToolUses `expr:"tools" json:"tools" of:"tool" doc:"The calls of each tool, by name."`
	Calls      []Call              `expr:"calls" json:"calls" doc:"The tool calls, step by step."`
	ModelCalls int                 `expr:"model_calls" json:"model_calls" doc:"The number of model calls of the run."`
	ToolCalls  int                 `expr:"tool_calls" json:"tool_calls" doc:"The number of tool calls of the run."`
	Replans    int                 `expr:"replans" json:"replans" doc:"The number of times a plan was replaced."`
	Prompts    []string            `expr:"prompts" json:"prompts,omitempty" doc:"The prompts that were sent, as text."`
	Status     string              `expr:"status" json:"status" enum:"completed|stopped|interrupted|failed|cancelled" doc:"The status of the run."`
	StopReason string              `expr:"stop_reason" json:"stop_reason" doc:"The code of the stop reason."`
	Response   string              `expr:"response" json:"response" doc:"The answer as text."`
	Warnings   []string            `expr:"warnings" json:"warnings" doc:"The warnings of the run."`
	Cost       float64             `expr:"cost" json:"cost" doc:"The cost of the model calls, in USD."`
	Tokens     int                 `expr:"tokens" json:"tokens" doc:"The tokens of all model calls, input and output."`
}

// Call is a tool call of a trace.
type Call struct {
	Step   string         `expr:"step" json:"step" doc:"The id of the step that made the call."`
	Tool   string         `expr:"tool" json:"tool" of:"tool" doc:"The name of the tool."`
	Args   map[string]any `expr:"args" json:"args" doc:"The arguments of the call."`
	Status string         `expr:"status" json:"status" enum:"ok|error|denied|timeout|unknown" doc:"The status of the call."`
	Result any            `expr:"result" json:"result" doc:"The result of the call."`
}

// ToolUses counts the calls of one tool.
type ToolUses struct {
	Calls  int `expr:"calls" json:"calls" doc:"The number of calls."`
	Errors int `expr:"errors" json:"errors" doc:"The number of failed calls."`
}
