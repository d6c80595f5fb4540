//go:build unix && !linux

package service

import "syscall"

// childAttributes keep the terminal's Ctrl-C from the child. There is no
// parent-death signal here: if rlbench is killed with SIGKILL, the child stays.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
