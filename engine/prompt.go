package engine

// Prompt is a prompt template of a Program.
type Prompt struct {
	// Name is "ROLE.FIELD", "NODE.FIELD" or "prompts.NAME". The prompts of a nested agent are
	// named after the tool or node that calls it: "tools.writer/planner.system_prompt".
	Name string
	Text string // the source, with files and names resolved
	// Use is the named prompt that it is: {use: NAME}; "" = it has its own text.
	Use        string
	References []string // "parameters.question"; none for a named prompt
	BuiltIn    bool     // the spec does not set it
	// Fixed reports that a fork cannot edit it: it is a setting of an LLM, or text for people.
	Fixed bool
}

// AllPrompts returns the prompts of a program and of the agents that it calls, in order.
func (p *Program) AllPrompts() []Prompt {
	out := append([]Prompt(nil), p.Prompts...)
	for _, a := range p.Agents {
		for _, q := range a.AllPrompts() {
			q.Name = a.Caller + "/" + q.Name
			out = append(out, q)
		}
	}
	return out
}
