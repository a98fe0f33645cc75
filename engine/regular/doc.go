// Package regular opens regular files, and makes files and directories durable.
//
// It opens nothing but regular files: opening a FIFO waits for its other end, and
// reading a device may never end. In a home, whose files other programs can
// replace, both are an error here instead of a process that hangs.
//
// It does not decide where files may be: it follows symbolic links.
package regular
