// Package ttytest is a terminal for tests.
//
//	s := ttytest.New(t, 80, 24)
//	draw(s, s.Size)
//	s.String() // what stands on the screen, and what scrolled off it
//
// It fails the test at anything that would drive a real terminal other than
// tty.Canvas and tty.Pen do. It must not know what is drawn.
package ttytest
