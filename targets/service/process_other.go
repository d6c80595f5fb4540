//go:build !unix

package service

import "syscall"

// childAttributes: nothing to ask for; if rlbench is killed, the child stays.
func childAttributes() *syscall.SysProcAttr { return nil }
