package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ufs-stream/ufs-stream/internal/program"
)

// resumable is an interruption whose progress was saved.
type resumable struct {
	dir string
	err error
}

func (r *resumable) Error() string { return r.err.Error() }
func (r *resumable) Unwrap() error { return r.err }

// spelled writes texts with their options as flags. The result is never nil.
func spelled(texts []stream.Text) []string {
	lines := make([]string, len(texts))
	for i, t := range texts {
		lines[i] = t.Spell(flagOf)
	}
	return lines
}

// flagOf spells an option as its flag.
func flagOf(option string) string {
	if len(option) == 1 {
		return "-" + option
	}
}

// spelled are sentences with their options as flags.
func spelled(texts []stream.Text) []string {
	var out []string
	for _, t := range texts {
		out = append(out, t.Spell(flagOf))
	}
	return out
}
