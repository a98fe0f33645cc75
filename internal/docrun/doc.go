// Package docrun does what a page of the docs says, as its reader would: in an
// empty folder, from top to bottom.
//
//	page.md --Parse--> blocks --House.Walk--> files written, commands run, specs vetted
//	                                   \--> the page as it should read
//
// Whoever calls it compares that text with the page: where an output is what
// stands there, but for ids, times, digests and durations, it is left as it is.
// The notation is described in CONTRIBUTING.md.
//
// It must not know what pexctl does, nor what the pages are about.
package docrun
