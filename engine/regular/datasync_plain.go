//go:build !linux

package regular

import "os"

func syncData(f *os.File) error { return f.Sync() }

// syncFileSystem is not available.
func syncFileSystem(string) (synced bool, err error) { return false, nil }
