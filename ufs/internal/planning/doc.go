// Package planning predicts the memory, passes, scratch space and duration of a run from the run's settings and the
// shape of its input. It reads footers only.
package planning
