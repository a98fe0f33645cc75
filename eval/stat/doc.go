// Package stat has the statistics of evaluations: confidence intervals of rates and
// paired differences, tests, and required numbers of cases.
//
//	rates of cases, in clusters --> Rate        95 % interval of their weighted mean
//	differences of pairs        --> Change      95 % interval; McNemar, SignFlip: p
//	tables of single cases      --> Fisher, Adjust (Benjamini-Hochberg)
//
// Results are bit-identical for the same input: random draws use a fixed seed and order.
// Small samples never yield certainty: twenty passes of twenty do not have the interval
// [1, 1].
//
// The package must not know cases or trials, nor how verdicts are reached. It is the only
// package that imports gonum.
package stat
