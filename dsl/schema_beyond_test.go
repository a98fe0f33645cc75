package dsl_test

import "github.com/pexctl/pex/dsl/diag"

// beyondCodes are the codes that no JSON Schema can check, with the reason.
var beyondCodes = map[diag.Code]string{
	diag.Unreadable: "needs other files", diag.OutsideRoot: "needs other files", diag.IncludeClash: "needs other files",
	diag.Cycle: "needs other files", diag.Unpinned: "needs pex.lock", diag.BadOverride: "stands on the command line, or is a path",
	diag.UnknownModel: "names", diag.UnknownPrompt: "names", diag.UnknownTool: "names", diag.AmbiguousModel: "names",
	diag.UnknownName: "names in templates", diag.OptionalName: "names in templates", diag.BadTemplate: "the text of templates",
	diag.NearMiss: "the text of templates", diag.Shadowed: "names", diag.BadExpression: "the text of expressions",
	diag.BadSchema: "what a schema within the file means", diag.BadDefault: "a schema within the file", diag.BadPath: "the text of paths",
	diag.BadPattern: "the text of patterns", diag.BadGraph: "names", diag.UnknownNode: "names", diag.GuardMismatch: "one key against another: vet says it better",
	diag.Secret: "the text of any value", diag.NoCost: "prices", diag.RetryWrite: "what the tool does", diag.UnapprovedTool: "what the tool does",
	diag.Unused: "names", diag.BadConfig: "code of the component", diag.HiddenText: "the text of any value",
	diag.Deprecated: "such a key is right, and marked", diag.MissingGrant: "names", diag.ShadowedTool: "names",
	diag.NeverFires: "the text of expressions", diag.AlwaysFires: "the text of expressions", diag.NotStrict: "what a provider takes",
	diag.UnmentionedTool: "the text of prompts", diag.NoEffect: "one key against another", diag.HistoryNotShown: "what a template renders",
	diag.BadIgnore: "comments", diag.UnusedIgnore: "comments", diag.TooMany: "a count of the others", diag.UntypedSchema: "a schema within the file",
	diag.MisspeltModel: "names of models", diag.CutByComment: "comments", diag.NumberAsText: "how a value is written",
	diag.Exposed: "one key against another", diag.UnknownRole: "names",
}

// beyondSchema are cases whose codes a schema checks elsewhere, but not here.
var beyondSchema = map[string]string{
	"agent-needs-a-parameter":      "needs other files",
	"agent-node-parameters":        "needs other files",
	"bad-overrides":                "the command line",
	"datetime-directive":           "the text of directives",
	"format-adk":                   "the schema leaves files alone that say not what they are",
	"format-adk-workflow":          "the schema leaves files alone that say not what they are",
	"format-aurite":                "the schema leaves files alone that say not what they are",
	"format-crewai-tasks":          "the schema leaves files alone that say not what they are",
	"format-opensearch":            "the schema leaves files alone that say not what they are",
	"format-crewai":                "the schema leaves files alone that say not what they are",
	"format-docker-agent":          "the schema leaves files alone that say not what they are",
	"format-docker-agent-models":   "the schema leaves files alone that say not what they are",
	"format-promptfoo":             "the schema leaves files alone that say not what they are",
	"prices-as-a-spec":             "the kind is right, but not what is asked for",
	"rounded-numbers-of-tests":     "the digits of a number, which editors round too",
	"script-mistakes":              "a file of replies says not what it is",
	"server-as-an-agent":           "needs other files",
	"server-tokens-file":           "needs other files",
	"suite-baseline":               "the text of references to git",
	"suite-dataset-columns":        "needs other files",
	"suite-dataset-format":         "the ending of a name",
	"suite-dataset-parameters":     "needs other files",
	"suite-no-spec":                "needs other files",
	"suite-override":               "the command line",
	"suite-two-gates-of-a-name":    "names that stand twice",
	"suite-two-variants-of-a-name": "names that stand twice",
	"tests-bad-set":                "paths of overrides",
	"tests-cassette-and-replies":   "one may be null",
	"tests-golden":                 "one key against another list: vet says it better",
	"tests-spec-library":           "needs other files",
	"tests-spec-nowhere":           "needs other files",
	"tests-two-of-a-name":          "names that stand twice",
	"tests-unknown-parameter":      "needs other files",
}
