// Package tty makes text fit for a terminal.
//
//	Safe, Flat, OneLine  what models, tools and files say can neither drive nor forge a screen
//	Width                how many columns a text takes
//	Pen                  bold, dim and colors, where they are wanted
//	Canvas               lines that are drawn again in place
//	Span, Ago, Amount    figures as people read them
//
// It must not know what is shown, where the bytes go, or what the machine is.
package tty
