//go:build !(darwin || freebsd || linux)

package badger

// freeBytes is unknown on this system.
func freeBytes(string) (int64, bool) { return 0, false }
