// Package measure is what a run cost, written down so that someone who was not there can trust it: submissions, the filter
// that they pass or not, the figures that follow from them, and what may be claimed of those.
//
// A submission is one session on one machine under a named protocol (a frozen policy such as bench_v1), as JSON. It has one
// arm, or several whose runs were interleaved; an arm is one artifact with its runs. Package session makes submissions;
// nobody types a number into one. Everything else here is a pure function of submissions: what passes the filter
// ([Excluded]), the figures ([Cells]), comparisons ([Compare]), claims ([Judge]) and merging ([Merge]).
//
// Rules that hold everywhere:
//   - A run that fails the filter, was killed or failed stays in the table, is counted, and makes no figure.
//   - Cold and warm are two numbers, encode and decode are two times with their counts, and a time comes with its memory.
//   - What is compared was interleaved, in pairs. Below the floor there is no difference.
//   - A rate above what the machine was measured to do is not a rate.
package measure
