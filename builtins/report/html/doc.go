// Package html writes the report of an evaluation as one page that needs
// nothing else: no server, no network, no second file.
//
//	fold.Report, rows --Write--> head: policy, style, script
//	                             body: report.json, cases, then per chunk of rows its index and its details
//	the page's script reads report and index at once, and a chunk's details when one of its trials is opened
//
// What models, tools and datasets say is hostile. Here it is only ever written
// as JSON in which no <, > and & is left; in the page it becomes text and
// nothing else; and a policy with the hashes of our own style and script
// forbids every other one, and every request.
//
// The script is plain: page/*.js are joined in the order of their names, without
// indentation and comments; page/view.js is the last and starts the page. What
// it looks like is tried in a real browser by the tests with the tag e2e.
//
// The package must not know how figures come about: they are those of the
// report.
package html
