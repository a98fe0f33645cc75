// Package planning turns the steps of a model's reply into a plan that can run.
//
//	reply --Unfinished--> new steps --Number--> ids --AddDependencies, Check--> plan
//	step --Fill--> step with the results that it refers to
//
// The package must not know any node or prompt.
package planning
