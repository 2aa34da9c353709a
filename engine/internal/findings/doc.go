// Package findings follows findings over the runs of a suite: it groups those that say
// the same, whatever host or run they are of, and tells what is new, what is known,
// what is gone and what came back. What people decided about them it reads from a file
// that can be committed.
//
// It reads records that are given to it and knows nothing of where runs are kept.
// Start at [History.Add], then [History.Of] or [History.Delta]; [ReadTriage] is the
// file of decisions.
package findings
