// Package tui is a transcript with an input below it, on a terminal.
//
//	Screen.Print            lines that stay, in the scrollback of the terminal
//	Options.Live            lines above the input that change
//	Editor                  the input: several lines, history, completion of slash commands
//	keys, pastes, resizes   Options.Submit, Options.Interrupt
//
// It is the only package that uses Bubble Tea. It does not know what is shown: texts must be
// escaped by the caller (package tty), except the input, which it escapes itself.
package tui
