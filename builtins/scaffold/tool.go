package scaffold

import "slices"

// Tool is a builtin tool that init offers.
type Tool struct {
	Name   string
	About  string // shown in the interview
	Config string // its configuration in the spec, as YAML
	Demo   bool   // answers part of the sample question, and cases of the suite
	Data   bool   // reads the data folder
}

// Tools returns the tools that init offers, in the order of the generated spec.
func Tools() []Tool {
	return []Tool{
		{Name: "json_query", About: "query and aggregate CSV and JSON files", Config: "{root: data}", Demo: true, Data: true},
		{Name: "search_files", About: "search text files", Config: "{root: data}", Demo: true, Data: true},
		{Name: "read_file", About: "read a text file", Config: "{root: data}", Demo: true, Data: true},
		{Name: "list_files", About: "list files", Config: "{root: data}", Data: true},
		{Name: "calculator", About: "evaluate arithmetic", Config: "{}", Demo: true},
		{Name: "clock", About: "get the current time", Config: "{}"},
		{Name: "http_get", About: "fetch a web page", Config: "{}"},
		{Name: "write_file", About: "write a file in out/, after your approval", Config: "{root: out, approval: always}"},
		{Name: "ask_user", About: "ask the user a question", Config: "{}"},
	}
}

// ToolNames returns the names of Tools.
func ToolNames() []string { return namesOf(func(Tool) bool { return true }) }

func demoToolNames() []string { return namesOf(func(t Tool) bool { return t.Demo }) }

func answersDemo(name string) bool { return slices.Contains(demoToolNames(), name) }

func namesOf(which func(Tool) bool) []string {
	var out []string
	for _, t := range Tools() {
		if which(t) {
			out = append(out, t.Name)
		}
	}
	return out
}

// chosen returns the chosen tools, in the order of Tools.
func (a Answers) chosen() []Tool {
	var out []Tool
	for _, t := range Tools() {
		if slices.Contains(a.Tools, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

func (a Answers) has(tool string) bool { return slices.Contains(a.Tools, tool) }

// Writes reports whether the agent can write files.
func (a Answers) Writes() bool { return a.has("write_file") }
