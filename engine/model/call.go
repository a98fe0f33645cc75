package model

// Call is one call of an llm by a node.
type Call struct {
	Role     string // planner, executor, reflector, finalizer, judge, summarizer
	LLM      string // name of the llm
	StepID   string // "" outside a step
	Step     string // the step's goal, references filled in
	Messages []Message
	Tools    []ToolDef
	Parallel bool // several tool calls in one reply are welcome
	Schema   *ReplySchema
}
