package journal

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// pidOfLock returns the process that has a file locked for writing, or 0 if the kernel
// does not tell. A line of /proc/locks (proc_locks(5)) is
//
//	1: FLOCK  ADVISORY  WRITE 4242 fe:00:131074 0 EOF
func pidOfLock(file *os.File) int {
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &stat); err != nil {
		return 0
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	dev := uint64(stat.Dev)
	major, minor := dev>>8&0xfff|dev>>32&^0xfff, dev&0xff|dev>>12&^0xff
	inode := fmt.Sprintf("%02x:%02x:%d", major, minor, stat.Ino)
	for line := range strings.Lines(string(locks)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[3] != "WRITE" || f[5] != inode {
			continue
		}
		var pid int
		if _, err := fmt.Sscan(f[4], &pid); err != nil || pid < 0 {
			return 0 // a process outside this pid namespace
		}
		return pid
	}
	return 0
}
