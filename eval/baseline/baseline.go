package baseline

import (
	"time"

	"github.com/pexctl/pex/engine/exprenv"
)

// Version is that of the file: fields are only ever added.
const Version = 1

// File is a baseline.
type File struct {
	V       int           `json:"v"`
	Suite   string        `json:"suite"`
	Digest  string        `json:"digest"`
	Grading string        `json:"grading_digest"` // marks of another grading do not compare
	Dataset string        `json:"dataset_digest"`
	Commit  string        `json:"git_commit,omitempty"`
	At      time.Time     `json:"at,omitzero"` // when the evaluation began
	Stats   exprenv.Stats `json:"stats"`
	Cases   []Case        `json:"cases"`
}

// Case is what one case came to under one variant.
type Case struct {
	Case      string  `json:"case"`
	Variant   string  `json:"variant,omitempty"`
	C         int     `json:"c"` // passed trials
	N         int     `json:"n"` // graded trials
	Score     float64 `json:"score"`
	Cost      float64 `json:"cost"` // mean of a trial, USD
	Tokens    float64 `json:"tokens"`
	LatencyMS float64 `json:"latency_ms"`
}
