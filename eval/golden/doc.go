// Package golden keeps what the tests of a spec want: prompts, tools and
// trajectories as files that people read.
//
//	artefacts --Mask--> texts without what changes by itself --Compare--> Changes --Accept--> files
//	Change --textdiff--> hunks, lines, changed words
//	Change + sources of the spec --Blame--> spec.yaml:41 (planner.system_prompt)
//
// A comparison never writes. What a run gave stays in memory until somebody
// accepts it: there are no "received" files to ignore or to clean up.
//
// Announce tells a Tree which cases come, in their order. Cases may share a
// golden that is the same. Nothing of a folder is unused while a case that was
// announced there has not come to its end, and files that a spec reads are no
// goldens.
//
// Texts are compared as people see them in an editor: line ends are \n (a
// golden checked out with \r\n is the same), and the last line has one.
//
// The package must not know how a run is made, flags, or a terminal.
package golden
