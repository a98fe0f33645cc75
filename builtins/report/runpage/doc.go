// Package runpage writes a run as one HTML page that needs nothing beside it: no
// network, no script, no second file.
//
//	runpage.Write(w, *runview.View)
//
// The page works in light and dark, on a phone and on paper. Its content security
// policy allows two style sheets by their hashes and nothing else. Every text of a
// run is untrusted: html/template escapes it, and invisible characters are spelled
// out. It must not know where a View comes from.
package runpage
