// Package logs turns logs that somebody else recorded into ops, so that they
// can be judged without sending a single request.
//
// [Open] finds out how a log is compressed and what wrote it, and gives a
// [Reader], which yields blocks of ops in the order of the log. [Merge] puts the
// ops of one or several Readers in order of Sent. Neither keeps more of a log
// than a bounded window of it.
//
// A log says less than a run. What it leaves open widens the interval in which
// a decision may lie, never narrows it, and stands in the [Doubt]. What could not
// be read, or came too late to be put in order, is counted and shown with its
// place: evidence is missing then, and a log is never a fresh start.
//
// Intervals are closed at both ends. A stamp that was cut off at its last digit
// stands for [t, t+digit): its last nanosecond is t+digit-1.
package logs
