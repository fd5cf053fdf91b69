// Package selecting makes a method's evidence from statistics (evidence.go), lets the method rank the features
// (writeup.go), and judges the choice: its size (size.go), its worth, its stability on half-samples, and whether it is
// better than chance (trust.go). If the request names no method, a survey of a sample of the rows chooses it
// (survey.go).
package selecting
