//go:build !unix

package main

import "syscall"

func apart() *syscall.SysProcAttr { return nil }

// endGroup does nothing where there are no process groups.
func endGroup(int) {}
