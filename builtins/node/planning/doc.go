// Package planning turns the steps of a model's reply into a plan that can run.
//
//	reply --Unfinished--> new steps --Number--> IDs --AddDependencies, Check--> plan
//	step --Fill--> step with references replaced by results
//
// The package must not depend on any node or prompt.
package planning
