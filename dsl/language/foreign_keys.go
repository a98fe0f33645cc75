package language

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// anywhere is the section of keys with the same meaning in any place.
const anywhere = "*"

// foreignKeys maps keys of other tools, by the section in which they occur, to
// the equivalent in a spec: a key of that section (the first that exists, of
// several separated by |), or a hint if a new name is not enough. "" is the top
// level of a file, "llms" an entry of llms. Similar spellings need no row.
var foreignKeys = map[string]map[string]string{
	"": {
		"budget":            "write limits: {max_cost: ...}",
		"budgets":           "write limits: {max_cost: ...}",
		"functions":         "tools",
		"guardrails":        "guards",
		"handoffs":          `write agents: {NAME: {...}} and a tool {type: agent, ref: "#NAME"} for each`,
		"hooks":             "write guards: [{at: before_tool, when: ..., do: ...}]",
		"input_schema":      "write parameters: {NAME: {type: ...}}",
		"inputs":            "parameters",
		"json_schema":       "write output: {schema: ...}",
		"knowledge":         "write tools: {docs: {type: retrieve, root: FOLDER}}",
		"max_budget":        "write limits: {max_cost: ...}",
		"max_turns":         "write limits: {executor_max_iterations: ...}",
		"mcpServers":        "write tools: {NAME: {type: mcp, command: [...]}}",
		"mcp_servers":       "write tools: {NAME: {type: mcp, command: [...]}}",
		"mcps":              "write tools: {NAME: {type: mcp, command: [...]}}",
		"model":             "llms",
		"model_clients":     "llms",
		"models":            "llms",
		"output_schema":     "write output: {schema: ...}",
		"policies":          "guards",
		"providers":         "llms",
		"rag":               "write tools: {docs: {type: retrieve, root: FOLDER}}",
		"response_format":   "write output: {schema: ...}",
		"structured_output": "write output: {schema: ...}",
		"sub_agents":        `write agents: {NAME: {...}} and a tool {type: agent, ref: "#NAME"} for each`,
		"subagents":         `write agents: {NAME: {...}} and a tool {type: agent, ref: "#NAME"} for each`,
		"timeout":           "write limits: {max_duration: ...} for the run, or timeout under an entry of llms or tools",
		"toolsets":          "tools",
		"variables":         "parameters",
		"vars":              "parameters",
		"workflow":          "graph",
	},
	"guards": {"condition": "when", "if": "when", "action": "do", "on": "at", "phase": "at"},
	"limits": {
		"budget":             "max_cost",
		"cost":               "max_cost",
		"deadline":           "max_duration",
		"max_budget":         "max_cost",
		"max_execution_time": "max_duration",
		"max_iter":           "executor_max_iterations",
		"max_price":          "max_cost",
		"max_time":           "max_duration",
		"max_turns":          "executor_max_iterations",
		"max_usd":            "max_cost",
		"max_wall_time":      "max_duration",
		"recursion_limit":    "max_steps",
		"timeout":            "max_duration",
		"tokens":             "max_tokens",
	},
	"llms": {
		"deployment":      "model",
		"deployment_name": "model",
		"engine":          "model",
		"id":              "model",
		"name":            "model",
		"token_key":       "api_key_env",
	},
	"metadata": {"id": "name", "title": "name"},
	"output":   {"format": "schema", "json_schema": "schema"},
	"tools":    {"uses": "use", "ref": "use"},
	anywhere: {
		"_llm_interface":              "the provider of an entry of llms decides how its model is called",
		"action":                      "do",
		"api_base":                    "base_url",
		"api_key":                     "api_key_env",
		"api_url":                     "base_url|url",
		"app_type":                    "remove it: a spec has nothing like it",
		"backstory":                   "write it in a prompt: executor: {executor_system_prompt: ...}",
		"cmd":                         "argv|command",
		"command":                     "argv",
		"condition":                   "when",
		"directory":                   "cwd|root",
		"endpoint":                    "base_url|url",
		"env_vars":                    "env",
		"exec":                        "argv|command",
		"executor_agent_id":           "write executor: {agent: FILE}, the file of another spec",
		"executor_max_iteration":      "write limits: {executor_max_iterations: ...}",
		"if":                          "when",
		"input":                       "input_schema|stdin",
		"instruction":                 "write it in a prompt: planner: {planner_prompt: ...} or executor: {executor_system_prompt: ...}",
		"instructions":                "write them in a prompt: planner: {planner_prompt: ...} or executor: {executor_system_prompt: ...}",
		"llm_interface":               "the provider of an entry of llms decides how its model is called",
		"max_iteration":               "write limits: {executor_max_iterations: ...} to limit the model calls per step, or limits: {max_steps: ...} to limit the steps per run",
		"max_iterations":              "write limits: {executor_max_iterations: ...} to limit the model calls per step, or limits: {max_steps: ...} to limit the steps per run",
		"max_output_tokens":           "max_tokens",
		"max_retries":                 "retry",
		"max_tokens":                  "max_output_tokens",
		"model_id":                    "write the model as an entry of llms: {main: {provider: ..., model: ...}}",
		"model_name":                  "model",
		"parameters":                  "input_schema",
		"prompt":                      "name the role of the prompt: planner: {planner_prompt: ...}, executor: {executor_system_prompt: ...} or reflector: {reflect_prompt: ...}",
		"prompt_template":             "planner, reflector and finalizer have their own templates, such as planner_prompt_template",
		"reflect_prompt_with_history": "write reflector: {reflect_prompt_template: ...}",
		"retries":                     "retry",
		"run":                         "argv|command",
		"schema":                      "input_schema",
		"server_url":                  "url",
		"stop_sequences":              "stop",
		"system_message":              "write it in a prompt: planner: {system_prompt: ...} or executor: {executor_system_prompt: ...}",
		"uri":                         "url",
		"workdir":                     "cwd",
		"working_directory":           "cwd",
	},
}

// foreignKey returns the replacement for a key of another tool. all are the keys
// of the section.
func foreignKey(key, path string, all []string) diag.Advice {
	if advice := replacement(foreignKeys[sectionOf(path)][key], key, all); advice.Hint != "" {
		return advice
	}
	advice := replacement(foreignKeys[anywhere][key], key, all)
	if advice.Fix.New != "" && diag.Nearest(key, all) != "" {
		return diag.Advice{}
	}
	return advice
}

// replacement returns the advice of a row, or the zero Advice if the section has
// none of its keys.
func replacement(row, key string, all []string) diag.Advice {
	if strings.Contains(row, " ") {
		return diag.Advice{Hint: row}
	}
	for word := range strings.SplitSeq(row, "|") {
		if slices.Contains(all, word) {
			return diag.DidYouMean(key, word, "")
		}
	}
	return diag.Advice{}
}

// sectionOf returns the section of foreignKeys for a path.
func sectionOf(path string) string {
	section, rest, entry := strings.Cut(path, ".")
	if entry && (strings.Contains(rest, ".") || section != "llms" && section != "tools") {
		return path
	}
	section, _, _ = strings.Cut(section, "[")
	return section
}
