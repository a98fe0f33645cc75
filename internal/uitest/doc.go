// Package uitest tests the pages of pexctl serve in a real browser. The tests have the tag e2e
// and need Chromium: make e2e-ui.
//
//	pexctl serve <- pages <- Chromium <- browsertest.Tab
package uitest
