// Package runpage writes a run as a self-contained HTML page without scripts or network
// access.
//
//	runpage.Write(w, *runview.View)
//
// The page works in light and dark mode, on a phone and on paper. Its content security
// policy allows two style sheets by their hashes and nothing else. Every text of a run is
// untrusted: html/template escapes it, and invisible characters are made visible. The
// package must not depend on where a View comes from.
package runpage
