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
	ID        string   `expr:"id"`
	Goal      string   `expr:"goal"`
	Status    string   `expr:"status"`
	Attempts  int      `expr:"attempts"`
	Result    string   `expr:"result"`
	Output    any      `expr:"output"` // Result parsed as JSON where it is JSON, else the text
	Error     string   `expr:"error"`
	Tools     []string `expr:"tools"`
	ToolCalls int      `expr:"tool_calls"`
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

// TraceEnv is `trace`, in tests and checks.
type TraceEnv struct {
	Steps      []StepEnv           `expr:"steps"`
	Tools      map[string]ToolUses `expr:"tools"`
	Calls      []CallEnv           `expr:"calls"` // of tools, step by step
	ModelCalls int                 `expr:"model_calls"`
	ToolCalls  int                 `expr:"tool_calls"`
	Replans    int                 `expr:"replans"`
	Prompts    []string            `expr:"prompts"`
	Status     string              `expr:"status"`
	StopReason string              `expr:"stop_reason"`
	Response   string              `expr:"response"`
	Warnings   []string            `expr:"warnings"`
	Cost       float64             `expr:"cost"`
	Tokens     int                 `expr:"tokens"`
}

// CallEnv is one tool call of a trace.
type CallEnv struct {
	Step   string         `expr:"step"` // its id
	Tool   string         `expr:"tool"`
	Args   map[string]any `expr:"args"`
	Status string         `expr:"status"`
	Result any            `expr:"result"`
}

// ToolUses counts the calls of one tool.
type ToolUses struct {
	Calls  int `expr:"calls"`
	Errors int `expr:"errors"`
}
