// Package rlbench holds the words that every part of rlbench speaks: what a
// limiter promised ([Policy]), what is asked of it ([Request], [Arrival],
// [Plan]), who is asked ([Target], [Answer]), what happened ([Op], [Run]) and
// what that proves ([Check], [Finding]).
//
// The package does nothing by itself. Scenarios make a Plan, a driver carries
// it out against a Target and keeps a Run, the oracle judges the Run by Checks,
// and reports draw the Findings. Each of those lives in a package of its own
// that imports this one and none of the others.
//
// Units: instants and durations are integer nanoseconds, costs are integers of
// at least 1, and nothing here uses floating point.
package rlbench
