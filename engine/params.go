package engine

// PromptNames lists the engine's own parameters by the template they exist in (see
// docs/reference/templates.md). A `vars:"@planner"` tag refers to a key.
// `parameters.<name>` in such a template is a declared parameter or one of these.
var PromptNames = map[string][]string{
	"planner":              promptNames("chat_history", "files"),
	"planner_with_history": promptNames("chat_history", "files", "completed_steps"),
	"reflector":            promptNames("chat_history", "files", "steps", "completed_steps", "remaining_steps", "failed_steps", "plan_progress"),
	"executor":             promptNames("chat_history", "files", "steps", "completed_steps", "remaining_steps", "failed_steps", "plan_progress"),
	"finalizer":            promptNames("chat_history", "files", "steps", "completed_steps", "remaining_steps", "failed_steps", "plan_progress"),
	"node":                 promptNames("chat_history", "files", "steps", "completed_steps", "remaining_steps", "failed_steps", "plan_progress"),
	"system":               {"question", "user_prompt", "tools_prompt", "now", "plan_execute_reflect_response_format"},
}

func promptNames(more ...string) []string {
	return append([]string{
		"question", "user_prompt", "tools_prompt", "planner_prompt", "reflect_prompt",
		"plan_execute_reflect_response_format", "usage", "now", "user_messages",
	}, more...)
}
