package scaffold

// task is a question, the step that answers it, and the scripted replies.
type task struct {
	ID      string // of the case in the suite
	Ask     string
	Goal    string
	Key     string // part of the goal that identifies it
	Calls   []call
	Finding string // the reply of the step
	Answer  string // what a correct answer contains
}

// call is a tool call.
type call struct {
	Tool   string
	Args   string // JSON
	Result string // text that the result must contain before the script continues
}

// figures are the sales of data/sales.csv, in file order.
const figures = "402.65 + 391.20 + 437.85 + 421.40 + 498.15 + 611.75 + 274.90 + 398.10 + 409.55 + 430.30 + 188.45 + 489.60 + 640.25 + 288.65"

// demo returns the sample question, as parts that the chosen tools can answer.
func (a Answers) demo() []task {
	var out []task
	table := a.has("json_query") || a.has("read_file")
	switch {
	case a.has("json_query"):
		out = append(out, lowest("json_query",
			call{"json_query", `{"path": "sales.csv", "query": "$[*]", "aggregate": {"op": "min", "field": "sales"}}`, "188.45"},
			call{"json_query", `{"path": "sales.csv", "query": "$[?@.sales == 188.45]"}`, "2026-11-12"}))
	case table:
		out = append(out, lowest("read_file", call{"read_file", `{"path": "sales.csv"}`, "2026-11-12,Thu,71,188.45"}))
	}
	if a.has("calculator") {
		out = append(out, a.share(table))
	}
	switch {
	case a.has("search_files"):
		out = append(out, reason(table, "search_files", call{"search_files", `{"query": "2026-11-12", "path": "notes.md"}`, "8:10 to 13:30"}))
	case a.has("read_file"):
		out = append(out, reason(table, "read_file", call{"read_file", `{"path": "notes.md"}`, "8:10 to 13:30"}))
	}
	return out
}

func lowest(tool string, calls ...call) task {
	return task{
		Key: "lowest sales in sales.csv", Ask: "Which day in sales.csv had the lowest sales?",
		Goal:  "Find the day with the lowest sales in sales.csv with " + tool,
		Calls: calls, Finding: "2026-11-12, a Thursday, had the lowest sales: 188.45 EUR.",
	}
}

// share is the part for the calculator. With table, a tool reads the figures from sales.csv; otherwise the question states them.
func (a Answers) share(table bool) task {
	last := call{"calculator", `{"expression": "round((1 - 188.45 / 420.20) * 1000) / 10"}`, "55.2"}
	if !table {
		return task{
			Key: "by what percentage", Ask: "Sales were 188.45 EUR on 2026-11-12 and 420.20 EUR on an average day. What is the difference in percent?",
			Goal:  "Use the calculator to compute by what percentage 188.45 is below 420.20",
			Calls: []call{last}, Finding: "188.45 EUR is 55.2% lower than 420.20 EUR.",
		}
	}
	t := task{
		Key: "by what percentage", Ask: "By what percentage is that below the average day?",
		Goal:    "Use the calculator to compute by what percentage the lowest sales are below the average day",
		Finding: "That is 55.2% below the average day of 420.20 EUR.",
	}
	if a.has("json_query") {
		t.Calls = []call{{"json_query", `{"path": "sales.csv", "query": "$[*]", "aggregate": {"op": "avg", "field": "sales"}}`, "420.2"}, last}
		return t
	}
	t.Calls = []call{
		{"calculator", `{"expression": "(` + figures + `) / 14"}`, "420.2"}, last,
	}
	return t
}

func reason(table bool, tool string, c call) task {
	t := task{
		Key: "what notes.md says",
		Ask: "According to the notes, what happened on 2026-11-12?", Goal: "Find what notes.md says about 2026-11-12 with " + tool, Calls: []call{c},
		Finding: "According to notes.md, the espresso machine was down on 2026-11-12 from 8:10 to 13:30.",
	}
	if table {
		t.Ask, t.Goal = "What do the notes say about that day?", "Find what notes.md says about that day with "+tool
	}
	return t
}

// cases returns the questions of the suite: two per demo tool.
func (a Answers) cases() []task {
	var out []task
	for _, t := range a.chosen() {
		out = append(out, suite[t.Name]...)
	}
	return out
}

// Questions returns the number of questions in the suite.
func (a Answers) Questions() int { return len(a.cases()) }

// suite maps a tool to its questions; each takes one step.
var suite = map[string][]task{
	"json_query": {
		{
			ID: "best-day", Key: "highest sales", Ask: "On which date were sales highest?", Goal: "Find the date with the highest sales in sales.csv with json_query",
			Calls: []call{
				{"json_query", `{"path": "sales.csv", "query": "$[*]", "aggregate": {"op": "max", "field": "sales"}}`, "640.25"},
				{"json_query", `{"path": "sales.csv", "query": "$[?@.sales == 640.25]"}`, "2026-11-14"},
			},
			Finding: "The sales were highest on 2026-11-14: 640.25 EUR.", Answer: "2026-11-14",
		},
		{
			ID: "total", Key: "Add up the sales", Ask: "What are the total sales in EUR?", Goal: "Add up the sales in sales.csv with json_query",
			Calls:   []call{{"json_query", `{"path": "sales.csv", "query": "$[*]", "aggregate": {"op": "sum", "field": "sales"}}`, "5882.8"}},
			Finding: "The sales add up to 5882.80 EUR.", Answer: "5882.8",
		},
	},
	"search_files": {
		{
			ID: "cake", Key: "without cake", Ask: "On which date did we run out of cake?", Goal: "Find the day without cake in notes.md with search_files",
			Calls:   []call{{"search_files", `{"query": "out of cake", "path": "notes.md"}`, "2026-11-07"}},
			Finding: "We ran out of cake on 2026-11-07, the day of the street festival.", Answer: "2026-11-07",
		},
		{
			ID: "machine", Key: "failure of the espresso machine", Ask: "At what time was the espresso machine repaired?", Goal: "Find the failure of the espresso machine in notes.md with search_files",
			Calls:   []call{{"search_files", `{"query": "espresso machine", "path": "notes.md"}`, "13:30"}},
			Finding: "The espresso machine was down until 13:30 on 2026-11-12.", Answer: "13:30",
		},
	},
	"read_file": {
		{
			ID: "festival", Key: "customers of 2026-11-07", Ask: "How many customers came on 2026-11-07?", Goal: "Look up the customers of 2026-11-07 in sales.csv with read_file",
			Calls:   []call{{"read_file", `{"path": "sales.csv"}`, "2026-11-07,Sat,203"}},
			Finding: "203 customers came on 2026-11-07.", Answer: "203",
		},
		{
			ID: "installed", Key: "2026-11-14 in notes.md", Ask: "What was installed on 2026-11-14?", Goal: "Look up 2026-11-14 in notes.md with read_file",
			Calls:   []call{{"read_file", `{"path": "notes.md"}`, "second grinder"}},
			Finding: "A second grinder was installed on 2026-11-14.", Answer: "second grinder",
		},
	},
	"calculator": {
		{
			ID: "split", Key: "Divide 48.60", Ask: "Four guests split a bill of 48.60 EUR evenly. How much does each pay?", Goal: "Divide 48.60 by 4 with the calculator",
			Calls:   []call{{"calculator", `{"expression": "48.60 / 4"}`, "12.15"}},
			Finding: "Each of the four pays 12.15 EUR.", Answer: "12.15",
		},
		{
			ID: "discount", Key: "15% off", Ask: "How much is a cake of 24.00 EUR with a 15% discount?", Goal: "Take 15% off 24.00 with the calculator",
			Calls:   []call{{"calculator", `{"expression": "24.00 * 0.85"}`, "20.4"}},
			Finding: "With the discount the cake costs 20.40 EUR.", Answer: "20.4",
		},
	},
}
