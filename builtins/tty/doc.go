// Package tty formats text for a terminal.
//
//	Safe, Flat, OneLine  escape text of models, tools and files, so that it cannot control or forge a screen
//	Width                the number of columns of a text
//	Pen                  bold, dim and colors, if enabled
//	Canvas               lines that are redrawn in place
//	Span, Ago, Amount    durations and counts for people
//
// It does not know what is shown or where the output goes, and does not query the machine.
package tty
