//go:build linux

package regular

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// syncData is fdatasync(2).
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		runtime.KeepAlive(f)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}

// syncFileSystem is syncfs(2), from Linux 5.8 on: before, it did not return all errors.
func syncFileSystem(dir string) (synced bool, err error) {
	if !syncfsReports() || syncfs == 0 {
		return false, nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return true, err
	}
	defer d.Close()
	for {
		_, _, errno := syscall.Syscall(syncfs, d.Fd(), 0, 0)
		switch errno {
		case 0:
			return true, nil
		case syscall.EINTR:
		default:
			return true, &os.PathError{Op: "syncfs", Path: dir, Err: errno}
		}
	}
}

// syncfs is the number of the system call, 0 if it is not known. Package syscall does not
// have it for all architectures.
var syncfs = map[string]uintptr{"386": 344, "amd64": 306, "arm": 373, "arm64": 267, "loong64": 267, "riscv64": 267}[runtime.GOARCH]

// syncfsReports reports whether the kernel is Linux 5.8 or newer.
var syncfsReports = sync.OnceValue(func() bool {
	var name syscall.Utsname
	if syscall.Uname(&name) != nil {
		return false
	}
	var release []byte
	for _, c := range name.Release {
		release = append(release, byte(c))
	}
	var major, minor int
	_, err := fmt.Sscanf(string(release), "%d.%d", &major, &minor)
	return err == nil && (major > 5 || major == 5 && minor >= 8)
})
