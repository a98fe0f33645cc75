package starter

import "slices"

// Tool is a builtin tool that a project can begin with.
type Tool struct {
	Name   string
	About  string // for people who choose
	Config string // what stands below its name in the spec
	Asked  bool   // the first question and the suite are answered by it
	Data   bool   // reads the folder data
}

// Tools are all of them, in the order in which a spec has them.
func Tools() []Tool {
	return []Tool{
		{Name: "json_query", About: "select and add up rows of CSV and JSON files", Config: "{root: data}", Asked: true, Data: true},
		{Name: "search_files", About: "find lines in text files", Config: "{root: data}", Asked: true, Data: true},
		{Name: "read_file", About: "read a text file", Config: "{root: data}", Asked: true, Data: true},
		{Name: "list_files", About: "see which files there are", Config: "{root: data}", Data: true},
		{Name: "calculator", About: "work out a sum", Config: "{}", Asked: true},
		{Name: "clock", About: "tell the time", Config: "{}"},
		{Name: "http_get", About: "fetch a page from the web", Config: "{}"},
		{Name: "write_file", About: "write a file below out/, once you approve it", Config: "{root: out, approval: always}"},
		{Name: "ask_user", About: "ask you something", Config: "{}"},
	}
}

// ToolNames are the names of Tools.
func ToolNames() []string { return namesOf(func(Tool) bool { return true }) }

func answeringNames() []string { return namesOf(func(t Tool) bool { return t.Asked }) }

func answering(name string) bool { return slices.Contains(answeringNames(), name) }

func namesOf(which func(Tool) bool) []string {
	var out []string
	for _, t := range Tools() {
		if which(t) {
			out = append(out, t.Name)
		}
	}
	return out
}

// chosen are the tools of the answers, in the order of Tools.
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

// Writes says whether the agent may write files.
func (a Answers) Writes() bool { return a.has("write_file") }
