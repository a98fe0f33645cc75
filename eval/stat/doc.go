// Package stat holds the statistics of evaluations: intervals of rates and of
// paired differences, tests, and how many cases a question needs.
//
//	rates of cases, in clusters --> Rate        95 % interval of their weighted mean
//	differences of pairs        --> Change      95 % interval; McNemar, SignFlip: p
//	tables of single cases      --> Fisher, Adjust (Benjamini-Hochberg)
//
// All of it gives the same bits for the same input: what draws at random does
// so from a fixed seed, in a fixed order. Nothing claims certainty where there
// is little: twenty passes of twenty do not give the interval [1, 1].
//
// It must not know what a case or a trial is, nor how a verdict is reached. It
// is the only door to gonum.
package stat
