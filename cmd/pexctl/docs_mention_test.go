package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notOurs are code spans that look like a part of pex but are not, by page, each
// with the reason.
var notOurs = map[string]map[string]string{
	"CONTRIBUTING.md": {
		"sleep":   "a function of Go",
		"console": "the language of a code block",
		"curl":    "a program",
	},
	"SECURITY.md": {
		"main": "a branch",
	},
	"docs/approvals.md": {
		"npm": "a program",
	},
	"docs/ci.md": {
		"trials.jsonl":        "a file of an evaluation",
		"pull_request":        "an event of GitHub",
		"pull_request_target": "an event of GitHub",
		"artifacts: {reports: {junit: tests.xml}}": "a key of GitLab",
	},
	"docs/costs.md": {
		"-latest":             "the end of a model's name",
		"num_ctx":             "a setting of Ollama",
		"retires: 2026-12-31": "a key of a Prices file, which has no table in the reference",
		"max_output: 64000":   "likewise",
		"max_output":          "likewise",
	},
	"docs/editors.md": {
		".vscode/settings.json": "a file of VS Code",
		"languages.toml":        "a file of Helix",
	},
	"docs/evals.md": {
		"NAME.baseline.json": "a pattern of file names",
	},
	"docs/extending.md": {
		"doc":                         "a struct tag",
		"says":                        "a function of builtins/assertion",
		"builtins/tool/word_count.go": "a file to be written",
		"builtins/assertion/lines.go": "a file to be written",
		"--<type> FILE":               "a flag to be",
	},
	"docs/guided.md": {
		"pending": "a status in the plan context, which has no table in the reference",
	},
	"docs/migrating.md": {
		"fallback.models":          "a key of docker agent",
		"structured_output.schema": "a key of docker agent",
		"suite-2.yaml":             "a file that import writes",
	},
	"docs/migrating-opensearch.md": {
		"llm.model_id":               "a key of OpenSearch",
		"client_config.read_timeout": "a key of OpenSearch",
	},
	"docs/performance.md": {
		"plain": "a case of a benchmark",
	},
	"docs/prompts.md": {
		"r": "an answer of pexctl test --review",
	},
	"docs/recordings.md": {
		"origin: aimock 1.43.0": "a line of a recording",
		"words: noise":          "a line of a recording",
	},
	"docs/reference/diagnostics/PEX034.md": {
		"parameters.user.id": "a parameter of an example",
	},
	"docs/reference/diagnostics/PEX040.md": {
		"amount: {type: number}": "a property of an example",
	},
	"docs/mcp-server.md": {
		"claude_desktop_config.json": "a file of Claude Desktop",
		".vscode/mcp.json":           "a file of VS Code",
		"run_get":                    "a tool of pexctl mcp serve",
		"run_answer":                 "a tool of pexctl mcp serve",
		"run_cancel":                 "a tool of pexctl mcp serve",
		"input_required":             "a type of results of the protocol",
	},
	"docs/security.md": {
		"https":                         "a scheme of URLs",
		"permissions: {contents: read}": "a key of GitHub",
		"pull_request":                  "an event of GitHub",
		"pull_request_target":           "an event of GitHub",
		"-trimpath":                     "a flag of go build",
	},
	"docs/observability.md": {
		"parentbased_always_on": "a sampler of OpenTelemetry",
	},
	"docs/opensearch.md": {
		"registered":               "a folder of the home",
		"task_id":                  "a field of OpenSearch's API",
		"is_last":                  "likewise",
		"include_token_usage":      "a parameter of OpenSearch's agents",
		"response.interrupts":      "a field of a task",
		"plan_execute_and_reflect": "a type of OpenSearch's agents",
		"conversational":           "likewise",
		"flow":                     "likewise",
		"match_all":                "a query of OpenSearch",
		"term":                     "likewise",
		"bool":                     "likewise",
	},
	"docs/serve.md": {
		"webhook.test":   "a type of messages to webhooks",
		"event: rewound": "a line of a feed",
	},
	"docs/tutorial.md": {
		"evals/cases.csv": "a file of the new project",
	},
	"docs/troubleshooting.md": {
		"localhost": "a host",
	},
	"specs/README.md": {
		"live":  "an LLM of the samples",
		"local": "an LLM of the samples",
	},
	"specs/hello/README.md": {
		"live":  "an LLM of live.yaml",
		"local": "an LLM of live.yaml",
	},
	"specs/log-triage/prompts/investigator.md": {
		"aggregate": "an argument of json_query",
		"group_by":  "an argument of json_query",
	},
	"specs/mcp-files/README.md": {
		"npx": "a program",
	},
	"specs/refund-desk/README.md": {
		"refunds": "a field of orders.json",
	},
	"specs/refund-desk/data/policy.md": {
		"refunds": "a field of orders.json",
	},
	"specs/repo-tour/data/courier/README.md": {
		"src/channels/registry.ts": "the file that is missing on purpose",
	},
	"builtins/scaffold/templates/prompts_planner.md": {
		"sales.csv": "a file of the new project",
		"notes.md":  "a file of the new project",
	},
	"specs/log-triage/README.md": {
		"anz":                "a region of the recorded service",
		"daily":              "a function of record/shop.go",
		"reports.skip_empty": "a setting of the recorded service",
	},
}

// TestPagesNameWhatExists checks every command, flag, path, key and code that a
// page names.
func TestPagesNameWhatExists(t *testing.T) {
	oneGoroutine(t)
	known, exported := newVocabulary(t), namesOfTraces(t)
	for _, name := range checkedPages(t) {
		text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		unused := maps.Clone(notOurs[name])
		for _, m := range mentions(name, string(text)) {
			if _, ok := notOurs[name][m.text]; ok {
				delete(unused, m.text)
				continue
			}
			if name == "docs/observability.md" && exported[m.text] {
				continue
			}
			if problem := known.problem(m); problem != "" {
				t.Errorf("%s:%d: `%s`: %s", name, m.line, m.text, problem)
			}
		}
		for word := range unused {
			t.Errorf("%s: notOurs lists `%s`, which the page does not contain", name, word)
		}
	}
}

// checkedPages returns the pages at the root, in docs, in specs and in new
// projects, as slash paths from the root. Decision records describe their
// own time, and golden files hold what a model wrote.
func checkedPages(t *testing.T) []string {
	t.Helper()
	var out []string
	roots := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "specs", "builtins/scaffold/templates"}
	for i, root := range roots {
		roots[i] = filepath.Join(top, filepath.FromSlash(root))
	}
	for _, path := range pages(t, roots...) {
		name, err := filepath.Rel(top, path)
		if err != nil {
			t.Fatal(err)
		}
		if name = filepath.ToSlash(name); !strings.HasPrefix(name, "docs/adr/") && !strings.Contains(name, "/golden/") {
			out = append(out, name)
		}
	}
	return out
}

// mention is a code span, a command of a code block, or a diagnostic code.
type mention struct {
	page     string
	line     int
	text     string
	prose    bool     // not in a code block
	commands []string // the command lines that its paragraph names
	code     string   // the code blocks of the page
}

var (
	codeSpan      = regexp.MustCompile("`([^`]+)`")
	codeWord      = regexp.MustCompile(`\bPEX\d{3}\b`)
	commandLine   = regexp.MustCompile(`(?:^ *|\$ |run: |[;&|(] *|do )(pexctl [^#]*)`)
	continuedLine = regexp.MustCompile(`\\\n *`)
	newParagraph  = regexp.MustCompile(`^ *(?:$|[|#]|[-*] |\d+\. |\*\*)`)
)

// mentions returns what a page names, in its order.
func mentions(name, page string) []mention {
	var out []mention
	var code strings.Builder
	fenced := false
	paragraph := 0 // index of its first mention
	endParagraph := func() {
		var commands []string
		for _, m := range out[paragraph:] {
			if strings.HasPrefix(m.text, "pexctl ") {
				commands = append(commands, m.text)
			}
		}
		for i := range out[paragraph:] {
			out[paragraph+i].commands = commands
		}
		paragraph = len(out)
	}
	for i, line := range strings.Split(joinContinued(page), "\n") {
		if fenced || newParagraph.MatchString(line) {
			endParagraph()
		}
		for _, code := range codeWord.FindAllString(line, -1) {
			out = append(out, mention{page: name, line: i + 1, text: code})
		}
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
			endParagraph()
			code.WriteString(line + "\n")
		case fenced:
			code.WriteString(line + "\n")
			for _, m := range commandLine.FindAllStringSubmatch(line, -1) {
				out = append(out, mention{page: name, line: i + 1, text: m[1]})
			}
		default:
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				out = append(out, mention{page: name, line: i + 1, text: m[1], prose: true})
			}
		}
	}
	endParagraph()
	for i := range out {
		out[i].code = code.String()
	}
	return out
}

// joinContinued joins lines that end in a backslash with the next ones, and moves
// the line breaks after them to preserve line numbers.
func joinContinued(page string) string {
	var b strings.Builder
	for block := range strings.SplitSeq(page, "\n\n") {
		n := len(continuedLine.FindAllString(block, -1))
		b.WriteString(continuedLine.ReplaceAllString(block, " ") + strings.Repeat("\n", n) + "\n\n")
	}
	return b.String()
}

func TestMentionsAreChecked(t *testing.T) {
	known := newVocabulary(t)
	for _, page := range []string{
		"`pexctl rum spec.yaml`",
		"`pexctl fork RUN`",
		"`pexctl run spec.yaml --sett a=b`",
		"`--prompts`",
		"```console\n$ pexctl runs show RUN --prompts | less\n```",
		"```sh\nfor f in *; do\n  pexctl vett \"$f\"\ndone\n```",
		"```sh\npexctl run spec.yaml \\\n  --evnts -\n```",
		"`limits.max_coast`",
		"`planner.max_cost`",
		"`retry.max_wait`",
		"`run.stepz`",
		"`llms.main.modell`",
		"`memory: {historry: true}`",
		"`aproval: never`",
		"`cmd/pexctl/nowhere.go`",
		"`nowhere_test.go`",
		"`docs/nowhere.md`",
		"`max_iterationz`",
		"`make nothing`",
		"`runs lst`",
		"`pexctl vet` knows `--run-id`",
		"`approvel`",
		"`prompts/nowhere.md`",
		"`nowhere.yaml`",
		"PEX999 is no code",
	} {
		if !slices.ContainsFunc(mentions("README.md", page), func(m mention) bool { return known.problem(m) != "" }) {
			t.Errorf("no problem was found in %s", page)
		}
	}
}
