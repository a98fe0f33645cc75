//go:build linux

package process

import "syscall"

// HideSecrets protects this process from other processes of the same user: they can no longer read its environment
// and memory or trace it, and it writes no core dump. Root still can. Children are not affected, because the kernel
// resets the setting when they start their program. Errors are ignored; the process is then as accessible as any
// other.
func HideSecrets() {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0, 0, 0, 0)
}
