// Package settled turns a request into a run: it checks the request against the declaration of its method, fills in
// defaults and applies the plan file. A [Run] is passed to planning, gathering and selecting, as the description of
// the run to be made.
package settled
