package stream

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// UsageError is a request that cannot be right, whatever the data (exit code 2).
type UsageError struct{ Text }

func (e *UsageError) Error() string { return e.String() }

// Usagef makes a UsageError; the format is a [Text]'s.
func Usagef(format string, args ...any) error { return &UsageError{Text{format, args}} }

// Faults collects what is wrong with a request, so that its caller hears of all at once.
type Faults []Text

// Addf adds a fault; the format is a [Text]'s.
func (f *Faults) Addf(format string, args ...any) { *f = append(*f, Textf(format, args...)) }

// Err is a *[UsageError] of the prefix and all faults, or nil where there are none.
func (f Faults) Err(prefix string) error {
	if len(f) == 0 {
		return nil
	}
	args := make([]any, len(f))
	for i, fault := range f {
		args[i] = fault
	}
	return Usagef(prefix+strings.Repeat("; %v", len(f))[2:], args...)
}

// DataError is bad data or a bad file, with its place and what to do (exit code 3).
// Fields that do not apply are zero; RowGroup and Row are -1 where unknown.
type DataError struct {
	Path     string
	RowGroup int    // zero-based, within the file; -1 unknown
	Column   string // flattened name
	Row      int64  // zero-based, within the file; -1 unknown
	Err      error
	Remedy   Text
}

// Dataf makes a DataError of a whole file; the format is a [Text]'s.
func Dataf(path, format string, args ...any) *DataError {
	return &DataError{Path: path, RowGroup: -1, Row: -1, Err: Errorf(format, args...)}
}

// Error is "path: row group 2, column "x", row 17: what; remedy".
func (e *DataError) Error() string { return e.Spell(nil) }

// Spell is Error with options spelled by say.
func (e *DataError) Spell(say Spelling) string {
	var place []string
	if e.RowGroup >= 0 {
		place = append(place, fmt.Sprintf("row group %d", e.RowGroup))
	}
	if e.Column != "" {
		place = append(place, fmt.Sprintf("column %q", e.Column))
	}
	if e.Row >= 0 {
		place = append(place, fmt.Sprintf("row %d", e.Row))
	}
	var b strings.Builder
	for _, s := range []string{e.Path, strings.Join(place, ", "), Spell(e.Err, say)} {
		if s == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(s)
	}
	if e.Remedy.Format != "" {
		b.WriteString("; " + e.Remedy.Spell(say))
	}
	return b.String()
}

func (e *DataError) Unwrap() error { return e.Err }

// ErrTemporary is what errors are that say nothing about data or places but that a store
// or the network is down or busy, and was so when asked again (exit code 75).
var ErrTemporary = errors.New("trying again may help")

// Temporary reports whether err is of that kind, so that doing the same again later may
// succeed. Of errors that are joined the one that stays wins: a place that cannot be tidied
// up, or a full disk, is not helped by a store that comes back.
func Temporary(err error) bool {
	for err != nil {
		marked, ok := err.(interface{ Is(error) bool })
		if ok && marked.Is(ErrTemporary) || err == ErrTemporary { //nolint:errorlint // one layer at a time
			return true
		}
		switch outer := any(err).(type) {
		case interface{ Unwrap() error }:
			err = outer.Unwrap()
		case interface{ Unwrap() []error }:
			inner := outer.Unwrap()
			return len(inner) > 0 && !slices.ContainsFunc(inner, func(e error) bool { return !Temporary(e) })
		default:
			return false
		}
	}
	return false
}

// ErrMissing is wrapped by the DataError that a Source under [MissingError] ends with.
var ErrMissing = errors.New("missing value")

// The options that set a limit, for MemoryError.
const (
	MemoryLimit = "memory-limit"  // peak resident memory
	ScratchSize = "max-temp-size" // bytes in scratch files
)

// MemoryError says that a limit is too low, and which one would do (exit code 4).
type MemoryError struct {
	What        string // what needs the memory or scratch space
	Need, Limit int64  // bytes
	Option      string // that sets the limit: MemoryLimit where empty, or ScratchSize
	AtLeast     bool   // more than Need may be needed
	Or          Text   // what else helps; empty says nothing
}

func (e *MemoryError) Error() string { return e.Spell(nil) }

// OfMemory says whether it is a limit on memory.
func (e *MemoryError) OfMemory() bool { return cmp.Or(e.Option, MemoryLimit) == MemoryLimit }

// Spell is Error with options spelled by say.
func (e *MemoryError) Spell(say Spelling) string {
	needs := "needs"
	if e.AtLeast {
		needs = "needs at least"
	}
	text := Textf("%s %s %s but the limit is %s; raise it: %v %dMiB",
		e.What, needs, mib(e.Need), mib(e.Limit), Option(cmp.Or(e.Option, MemoryLimit)), (e.Need+1<<20-1)>>20).Spell(say)
	if e.Or.Format != "" {
		text += "; or " + e.Or.Spell(say)
	}
	return text
}

func mib(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// OutputError says that an output could not be written (exit code 1).
type OutputError struct {
	Path   string
	Err    error
	Remedy Text
}

func (e *OutputError) Error() string { return e.Spell(nil) }

// Spell is Error with options spelled by say.
func (e *OutputError) Spell(say Spelling) string {
	s := "cannot write " + e.Path + ": " + Spell(e.Err, say)
	if e.Remedy.Format != "" {
		s += "; " + e.Remedy.Spell(say)
	}
	return s
}

func (e *OutputError) Unwrap() error { return e.Err }

// UnconvergedError is an iteration that did not end as it must (exit code 5); it has a
// result all the same.
type UnconvergedError struct{ What string }

func (e *UnconvergedError) Error() string { return e.What }

// StaleError is a selection that no longer serves the data it was checked against (exit
// code 6); the verdict comes with it.
type StaleError struct{ Text }

func (e *StaleError) Error() string { return e.String() }

// UndecidedError is a question that the evidence cannot decide (exit code 7): whether a selection still
// serves new data. The verdict comes with it.
type UndecidedError struct{ Text }

func (e *UndecidedError) Error() string { return e.String() }
