// Package oracle judges a Run: was the promise certainly broken, can it be
// explained, or does the evidence not tell? It is pure: no clock, no network, no
// goroutine, no randomness, and integers only. The same Run gives the same bytes.
//
// The moment at which the limiter decided an op is not known; it lies somewhere
// in [Sent, Done]. Fail means that no choice of moments keeps the promise, Pass
// that some choice does. An op of Unknown outcome may have been charged at any
// moment from Sent on, or never: it never helps to accuse, and where it can
// excuse, it does.
package oracle
