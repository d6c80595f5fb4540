package service

import "syscall"

// childAttributes make the child die with us, even if we are killed, and keep
// the terminal's Ctrl-C from it: it shall outlive our last look at it. The
// parent-death signal comes when the *thread* that started the child ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
