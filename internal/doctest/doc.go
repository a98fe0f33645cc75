// Package doctest executes the pages of the docs like a reader: in an empty folder, from
// top to bottom.
//
//	page.md --Parse--> blocks --Runner.RunPage--> files written, commands run, specs vetted
//	                                   \--> the expected page
//
// The caller compares that text with the page. Output that differs only in ids, times,
// digests and durations is left unchanged. The notation is described in CONTRIBUTING.md.
//
// It must not know what pexctl does, nor what the pages are about.
package doctest
