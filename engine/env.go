package engine

// The structs below are what expressions see (DESIGN section 4). Their expr
// tags are the language; dsl/guard checks expressions against them, and a
// guard is evaluated with a map from these names to values:
//
//	parameters map[string]any, run RunEnv, plan PlanEnv, step StepEnv,
//	tool ToolEnv, reply ReplyEnv, output any, memory MemoryEnv, trace TraceEnv

// RunEnv is `run`: counters of the whole run.
type RunEnv struct {
	StepsExecuted int     `expr:"steps_executed"`
	Replans       int     `expr:"replans"`
	Tokens        int     `expr:"tokens"`
	Cost          float64 `expr:"cost"`    // USD
	Elapsed       float64 `expr:"elapsed"` // active seconds
	ModelCalls    int     `expr:"model_calls"`
	ToolCalls     int     `expr:"tool_calls"`
	NoProgress    int     `expr:"no_progress"` // consecutive steps not ok, or repeating an earlier result
}

// PlanEnv is `plan`.
type PlanEnv struct {
	Version   int       `expr:"version"`
	Steps     []StepEnv `expr:"steps"`
	Completed []StepEnv `expr:"completed"`
	Remaining []StepEnv `expr:"remaining"`
}

// StepEnv is `step`.
type StepEnv struct {
	ID        string   `expr:"id" json:"id"`
	Goal      string   `expr:"goal" json:"goal"`
	Status    string   `expr:"status" json:"status"`
	Attempts  int      `expr:"attempts" json:"attempts"`
	Result    string   `expr:"result" json:"result"`
	Output    any      `expr:"output" json:"output"` // Result parsed as JSON where it is JSON, else the text
	Error     string   `expr:"error" json:"error"`
	Tools     []string `expr:"tools" json:"tools"`
	ToolCalls int      `expr:"tool_calls" json:"tool_calls"`
}

// ToolEnv is `tool`.
type ToolEnv struct {
	Name     string         `expr:"name"`
	Effect   string         `expr:"effect"`
	Args     map[string]any `expr:"args"`
	Result   any            `expr:"result"`
	Error    string         `expr:"error"`
	Attempts int            `expr:"attempts"`
}

// ReplyEnv is `reply`: what the planner or reflector just answered.
type ReplyEnv struct {
	Text   string   `expr:"text"`
	Steps  []string `expr:"steps"` // goals
	Result string   `expr:"result"`
}

// MemoryEnv is `memory`.
type MemoryEnv struct {
	Tokens   int `expr:"tokens"`
	Messages int `expr:"messages"`
}

// TraceEnv is `trace`, in tests and checks; as JSON it has the same names.
type TraceEnv struct {
	Steps      []StepEnv           `expr:"steps" json:"steps"`
	Tools      map[string]ToolUses `expr:"tools" json:"tools"`
	Calls      []CallEnv           `expr:"calls" json:"calls"` // of tools, step by step
	ModelCalls int                 `expr:"model_calls" json:"model_calls"`
	ToolCalls  int                 `expr:"tool_calls" json:"tool_calls"`
	Replans    int                 `expr:"replans" json:"replans"`
	Prompts    []string            `expr:"prompts" json:"prompts,omitempty"`
	Status     string              `expr:"status" json:"status"`
	StopReason string              `expr:"stop_reason" json:"stop_reason"`
	Response   string              `expr:"response" json:"response"`
	Warnings   []string            `expr:"warnings" json:"warnings"`
	Cost       float64             `expr:"cost" json:"cost"`
	Tokens     int                 `expr:"tokens" json:"tokens"`
}

// CallEnv is one tool call of a trace.
type CallEnv struct {
	Step   string         `expr:"step" json:"step"` // its id
	Tool   string         `expr:"tool" json:"tool"`
	Args   map[string]any `expr:"args" json:"args"`
	Status string         `expr:"status" json:"status"`
	Result any            `expr:"result" json:"result"`
}

// ToolUses counts the calls of one tool.
type ToolUses struct {
	Calls  int `expr:"calls" json:"calls"`
	Errors int `expr:"errors" json:"errors"`
}
