package model

// Call is one call of an llm by a node.
type Call struct {
	Role     string // who asks, in records and reports: planner, judge, ...
	LLM      string // name of the llm
	StepID   string // "" outside a step
	Step     string // the step's goal, references filled in
	PerStep  bool   // its number counts the calls of the role in the step, not in the run
	Messages []Message
	Tools    []ToolDef
	Parallel bool // several tool calls in one reply are welcome
	Schema   *ReplySchema
}
