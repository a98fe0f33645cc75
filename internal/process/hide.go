//go:build linux

package process

import "syscall"

// HideSecrets closes this process to other processes of the same user: they can
// no longer read its environment and memory or trace it, and it leaves no core
// dump. Root still can. Children are not affected: the kernel opens them again
// when they start their program. Errors are ignored: without the call a process
// is as open as any other.
func HideSecrets() {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0, 0, 0, 0)
}
