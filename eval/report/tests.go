package report

import "github.com/pexctl/pex/eval/coverage"

// TestReport is what the tests of specs came to.
type TestReport struct {
	V          int          `json:"v"`
	Cases      []TestResult `json:"cases"`  // in the order they were found
	Passed     int          `json:"passed"` // updated ones included
	Failed     int          `json:"failed"` // errors included
	Skipped    int          `json:"skipped"`
	DurationMS int64        `json:"duration_ms"`
	Unused     []string     `json:"unused,omitempty"` // golden files that no case asked for
	// StaleCassettes are the cassettes that answered requests which are not quite those
	// that they recorded.
	StaleCassettes []StaleCassette   `json:"stale,omitempty"`
	Coverage       []coverage.Report `json:"coverage,omitempty"` // nil = nobody wanted to know
}

// StaleCassette is a cassette that answered other requests than it recorded.
type StaleCassette struct {
	Spec     string      `json:"spec"`
	Case     string      `json:"case"`
	Cassette string      `json:"cassette"`
	Calls    []StaleCall `json:"calls"`
}

// StaleCall is a request that is not quite the recorded one.
type StaleCall struct {
	Path    string   `json:"path"`
	Classes []string `json:"classes"` // of what differs
	Diff    string   `json:"diff"`    // unified
}

// TestResult is how one case came out.
type TestResult struct {
	Name       string     `json:"name"`
	File       string     `json:"file"` // that holds the case
	Line       int        `json:"line,omitempty"`
	Status     TestStatus `json:"status"`
	DurationMS float64    `json:"duration_ms"`
	Problems   []Problem  `json:"problems,omitempty"`
}

// TestStatus is how a case ended.
type TestStatus string

// The statuses of cases.
const (
	TestPassed  TestStatus = "passed"
	TestFailed  TestStatus = "failed"
	TestUpdated TestStatus = "updated" // it passes now: its golden files were rewritten
	TestSkipped TestStatus = "skipped"
	TestError   TestStatus = "error" // it could not be run to its end
)

// Problem is one thing that is wrong with a case.
type Problem struct {
	Kind     ProblemKind `json:"kind"`
	Where    string      `json:"where,omitempty"` // the golden file, or the check
	File     string      `json:"file,omitempty"`  // the spec or prompt file that caused it
	Line     int         `json:"line,omitempty"`
	Message  string      `json:"message"`
	Expected string      `json:"expected,omitempty"`
	Actual   string      `json:"actual,omitempty"`
	Diff     string      `json:"diff,omitempty"` // unified
}

// ProblemKind sorts problems.
type ProblemKind string

// The kinds of problems.
const (
	ProblemGolden     ProblemKind = "golden"     // not as the golden file says
	ProblemMissing    ProblemKind = "missing"    // there is no golden file, or no cassette
	ProblemReplay     ProblemKind = "replay"     // the cassette holds no answer for what was asked
	ProblemDrift      ProblemKind = "drift"      // prompts are not those that were recorded
	ProblemCheck      ProblemKind = "check"      // a check does not pass
	ProblemTrajectory ProblemKind = "trajectory" // other tools were called
	ProblemUnused     ProblemKind = "unused"     // a golden file or a recorded answer that nothing asked for
	ProblemError      ProblemKind = "error"
)
