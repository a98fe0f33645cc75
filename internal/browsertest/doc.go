// Package browsertest opens pages in Chromium, for tests with the tag e2e.
//
//	test -> Tab -> chromedp -> Chromium -> page under test
//
// A Tab fails its test if the page throws an exception, violates its content security policy,
// opens a dialog, or requests anything of another origin.
package browsertest
