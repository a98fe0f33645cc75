package model

// Call is a node's call of an LLM.
type Call struct {
	Role     string // planner, judge, ..., for records and reports
	LLM      string // name of the LLM
	StepID   string // "" outside of steps
	Step     string // the step's goal, rendered
	PerStep  bool   // number calls of the role within the step instead of the run
	Messages []Message
	Tools    []ToolDef
	Parallel bool // the reply may contain several tool calls
	Schema   *ReplySchema
	Files    bool // the first message of the user gets the files of the run that the LLM accepts
	// Interruptible lets a message of the user end the call: its error is then Interrupted,
	// and the caller sends the conversation again with the message.
	Interruptible bool
}
