// Package ttytest is a terminal for tests.
//
//	s := ttytest.New(t, 80, 24)
//	draw(s, s.Size)
//	s.String() // the screen, and what scrolled off it
//
// It fails the test at control sequences other than those of tty.Canvas and tty.Pen.
package ttytest
