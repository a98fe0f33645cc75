// Package regular opens regular files only, and syncs and locks files and directories.
//
// Opening a FIFO would block, and reading a device may never end. In a home, whose files
// other programs can replace, both are errors here.
//
// It does not restrict where files may be, and follows symbolic links.
package regular
