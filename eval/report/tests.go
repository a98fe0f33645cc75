package report

import "github.com/pexctl/pex/eval/coverage"

// TestReport is the result of the tests of specs.
type TestReport struct {
	V          int          `json:"v"`
	Cases      []TestResult `json:"cases"`  // in the order in which they were found
	Passed     int          `json:"passed"` // including updated ones
	Failed     int          `json:"failed"` // including errors
	Skipped    int          `json:"skipped"`
	DurationMS int64        `json:"duration_ms"`
	Unused     []string     `json:"unused,omitempty"` // golden files that no case uses
	// StaleCassettes are cassettes whose recorded requests differ from the current ones.
	StaleCassettes []StaleCassette   `json:"stale,omitempty"`
	Coverage       []coverage.Report `json:"coverage,omitempty"` // nil = not requested
}

// StaleCassette is a cassette whose replies were used for requests that differ from the recorded ones.
type StaleCassette struct {
	Spec     string      `json:"spec"`
	Case     string      `json:"case"`
	Cassette string      `json:"cassette"`
	Calls    []StaleCall `json:"calls"`
}

// StaleCall is a request that differs from the recorded one.
type StaleCall struct {
	Path    string   `json:"path"`
	Classes []string `json:"classes"` // of what differs
	Diff    string   `json:"diff"`    // unified
}

// TestResult is the result of one case.
type TestResult struct {
	Name       string     `json:"name"`
	File       string     `json:"file"` // file of the case
	Line       int        `json:"line,omitempty"`
	Status     TestStatus `json:"status"`
	DurationMS float64    `json:"duration_ms"`
	Problems   []Problem  `json:"problems,omitempty"`
}

// TestStatus is the status of a case.
type TestStatus string

// The statuses of cases.
const (
	TestPassed  TestStatus = "passed"
	TestFailed  TestStatus = "failed"
	TestUpdated TestStatus = "updated" // it passes now, after its golden files were rewritten
	TestSkipped TestStatus = "skipped"
	TestError   TestStatus = "error" // it could not be completed
)

// Problem is a problem found in a case.
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

// ProblemKind is the kind of a problem.
type ProblemKind string

// The kinds of problems.
const (
	ProblemGolden     ProblemKind = "golden"     // differs from the golden file
	ProblemMissing    ProblemKind = "missing"    // no golden file, or no cassette
	ProblemReplay     ProblemKind = "replay"     // the cassette has no reply for a request
	ProblemDrift      ProblemKind = "drift"      // prompts differ from the recorded ones
	ProblemCheck      ProblemKind = "check"      // a check failed
	ProblemTrajectory ProblemKind = "trajectory" // other tools were called
	ProblemUnused     ProblemKind = "unused"     // an unused golden file or recorded reply
	ProblemError      ProblemKind = "error"
)
