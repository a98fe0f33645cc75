// Package watch repeats a command whenever one of the files that it read changes.
//
//	Run --> command --> Files (what it read) --> poll until they differ --> command ...
//
// It polls: the files are few, and polling works on network and container file
// systems, which report no changes. It does not know what the command does.
package watch
