// Command rlbench drives rate limiters from many instances at once, keeps every
// decision as evidence, and judges it against an exact oracle.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program: it reads the command line, does what it says, and
// returns the exit status.
func run(args []string, stdout, stderr io.Writer) (status int) {
	defer func() {
		if bug := recover(); bug != nil {
			fmt.Fprintf(stderr, "rlbench: our own bug: %v\n%s", bug, debug.Stack())
			status = int(statusBug)
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the program at once: the first one only asks it to.
	go func() {
		<-ctx.Done()
		stop()
	}()
	root := rootCommand(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return int(statusMet)
	}
	if told := report(stderr, err); ctx.Err() == nil || told == statusBug {
		return int(told)
	}
	return int(statusInterrupted)
}

// report prints what went wrong, once, and tells the status that belongs to it.
// A command that already printed its verdict returns a bare status.
func report(stderr io.Writer, err error) status {
	var bare status
	if errors.As(err, &bare) {
		return bare
	}
	fmt.Fprintf(stderr, "rlbench: %v\n", err)
	var f *failure
	if errors.As(err, &f) {
		if f.hint != "" {
			fmt.Fprintf(stderr, "hint: %s\n", f.hint)
		}
		return f.status
	}
	var file *fs.PathError
	switch {
	case errors.Is(err, context.Canceled):
		return statusInterrupted
	case errors.As(err, &file):
		fmt.Fprintln(stderr, "hint: is there room, and may it be written?")
		return statusMissing
	}
	return statusBug
}

func rootCommand(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "rlbench",
		Short: "Settle arguments about rate limiters",
		Long: `rlbench drives a rate limiter from many instances at once, keeps every decision
as evidence, and judges the evidence against an exact oracle: certainly broken,
with the fewest requests that prove it; certainly kept; or cannot be told, and why.

Exit status: 0 every expectation held, 1 one did not, 2 inconclusive or nothing
was judged, 3 bad scenario, file or usage, 4 something it needs is not there,
5 our own bug, 130 interrupted.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return badInput("see "+cmd.CommandPath()+" --help", "%w", err)
	})
	// Only the name of a command is left for the library itself to refuse.
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return badInput("see rlbench --help", "there is no command %q", args[0])
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.AddCommand(
		runCommand(), validateCommand(), targetsCommand(), doctorCommand(),
		schemaCommand(), versionCommand(), museumCommand(), verifyCommand(),
	)
	for _, cmd := range root.Commands() {
		tellSlips(cmd)
	}
	return root
}

// tellSlips makes wrong arguments the user's slip, as wrong flags are.
func tellSlips(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return badInput("see "+cmd.CommandPath()+" --help", "%w", err)
		}
		return nil
	}
}
