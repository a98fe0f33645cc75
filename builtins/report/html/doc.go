// Package html writes the report of an evaluation as a self-contained page that needs no
// server, no network and no other file.
//
//	report.Report, rows --Write--> head: policy, style, script
//	                               body: report.json, cases, then per chunk of rows its index and its details
//	the page's script reads report and indexes at once, and a chunk's details when one of its trials is opened
//
// Texts from models, tools and datasets are untrusted. They are written only as JSON
// without <, > and &, and the script shows them only as text. A content security policy
// with the hashes of our own style and script blocks all other code and all requests.
//
// The script has no dependencies: page/*.js are concatenated in name order, without
// indentation and comments; page/view.js is the last and starts the page. Tests with the
// tag e2e run it in a real browser.
//
// The package must not depend on how statistics are computed: it shows those of the
// report.
package html
