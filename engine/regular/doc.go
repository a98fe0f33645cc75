// Package regular opens regular files only. Opening a FIFO waits for its other
// end and reading a device may never end; in a home, whose files other programs
// can replace, both are an error here instead of a process that hangs.
//
// It does not decide where files may be: it follows symbolic links.
package regular
