// Package golden manages the golden files of a spec's tests: readable files with prompts,
// tools and trajectories.
//
//	artefacts --Mask--> stable texts --Compare--> Changes --Accept--> files
//	Change --textdiff--> hunks, lines, changed words
//	Change + sources of the spec --Blame--> spec.yaml:41 (planner.system_prompt)
//
// A comparison never writes. Results stay in memory until they are accepted; there are no
// "received" files.
//
// Announce declares the order of the cases to a Tree. Cases may share an identical
// golden. Files in a folder count as unused only after all cases announced there have
// completed, and files that a spec reads are not goldens.
//
// Texts are compared with line endings normalized to \n, including after the last line.
//
// The package must not know how runs are made, flags, or terminals.
package golden
