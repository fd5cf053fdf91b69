package stream

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// UsageError reports a request that is wrong for any data (exit code 2).
type UsageError struct{ Text }

func (e *UsageError) Error() string { return e.String() }

// Usagef makes a UsageError; the format is as in [Text].
func Usagef(format string, args ...any) error { return &UsageError{Text{format, args}} }

// Faults collects the faults of a request, so that its caller can report all of them together.
type Faults []Text

// Addf adds a fault; the format is as in [Text].
func (f *Faults) Addf(format string, args ...any) { *f = append(*f, Textf(format, args...)) }

// Err returns a *[UsageError] of the prefix and all faults, or nil if there are none.
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

// DataError reports bad data or a bad file, with the position of the fault and a remedy (exit code 3). Fields that do
// not apply are zero. RowGroup and Row are -1 if they are unknown.
type DataError struct {
	Path     string
	RowGroup int    // zero-based, within the file; -1 unknown
	Column   string // flattened name
	Row      int64  // zero-based, within the file; -1 unknown
	Err      error
	Remedy   Text
}

// Dataf makes a DataError about a whole file; the format is as in [Text].
func Dataf(path, format string, args ...any) *DataError {
	return &DataError{Path: path, RowGroup: -1, Row: -1, Err: Errorf(format, args...)}
}

// Error formats as `path: row group 2, column "x", row 17: error; remedy`.
func (e *DataError) Error() string { return e.Spell(nil) }

// Spell returns the text of Error, with options in the form that spelling returns.
func (e *DataError) Spell(spelling Spelling) string { return e.spellWith(&speller{spelling: spelling}) }

func (e *DataError) spellWith(s *speller) string {
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
	for _, part := range []string{e.Path, strings.Join(place, ", "), s.spellError(e.Err)} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	if e.Remedy.Format != "" {
		b.WriteString("; " + e.Remedy.spellWith(s))
	}
	return b.String()
}

func (e *DataError) Unwrap() error { return e.Err }

// RemedyOf returns the remedy that an error in the tree of err has, or an empty Text.
func RemedyOf(err error) Text {
	if bad, ok := errors.AsType[*DataError](err); ok && bad.Remedy.Format != "" {
		return bad.Remedy
	}
	if unsaved, ok := errors.AsType[*OutputError](err); ok && unsaved.Remedy.Format != "" {
		return unsaved.Remedy
	}
	if low, ok := errors.AsType[*MemoryError](err); ok {
		return low.limitRemedy()
	}
	return Text{}
}

// ErrTemporary marks errors that are not caused by data or paths: a store or the network was still down or busy after
// all retries (exit code 75).
var ErrTemporary = errors.New("trying again may help")

// Temporary reports whether err is temporary, so that the same request may succeed later. A joined error is temporary
// only if all of its errors are. If one of them is a failed clean-up or a full disk, for example, this error remains
// when the store is available again.
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

// ErrMissing is wrapped by the DataError with which a Source ends under [MissingError].
var ErrMissing = errors.New("missing value")

// Names of the options that limit memory and scratch space, as values of MemoryError.Option.
const (
	MemoryLimit = "memory-limit"  // peak resident memory
	ScratchSize = "max-temp-size" // bytes in scratch files
)

// MemoryError reports a limit that is too low, and the limit that is needed (exit code 4).
type MemoryError struct {
	What        string // the work or data that needs the memory or scratch space
	Need, Limit int64  // bytes that are needed, and bytes that are allowed
	Option      string // the option that sets the limit: MemoryLimit if empty, or ScratchSize
	AtLeast     bool   // Need is only a lower bound
	Or          Text   // another remedy; may be empty
}

func (e *MemoryError) Error() string { return e.Spell(nil) }

// OfMemory reports whether the exceeded limit is a limit on memory, not on scratch files.
func (e *MemoryError) OfMemory() bool { return cmp.Or(e.Option, MemoryLimit) == MemoryLimit }

// Spell returns the text of Error, with options in the form that spelling returns.
func (e *MemoryError) Spell(spelling Spelling) string {
	return e.spellWith(&speller{spelling: spelling})
}

func (e *MemoryError) spellWith(s *speller) string {
	needs := "needs"
	if e.AtLeast {
		needs = "needs at least"
	}
	return Textf("%s %s %s but the limit is %s; %v", e.What, needs, formatMiB(e.Need), formatMiB(e.Limit), e.limitRemedy()).spellWith(s)
}

func (e *MemoryError) limitRemedy() Text {
	raise := Textf("raise it: {"+cmp.Or(e.Option, MemoryLimit)+" %dMiB}", (e.Need+1<<20-1)>>20)
	if e.Or.Format == "" {
		return raise
	}
	return Textf("%v; or %v", raise, e.Or)
}

func formatMiB(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// OutputError reports an output that could not be written (exit code 1).
type OutputError struct {
	Path   string
	Err    error
	Remedy Text
}

func (e *OutputError) Error() string { return e.Spell(nil) }

// Spell returns the text of Error, with options in the form that spelling returns.
func (e *OutputError) Spell(spelling Spelling) string {
	return e.spellWith(&speller{spelling: spelling})
}

func (e *OutputError) spellWith(s *speller) string {
	text := "cannot write " + e.Path + ": " + s.spellError(e.Err)
	if e.Remedy.Format != "" {
		text += "; " + e.Remedy.spellWith(s)
	}
	return text
}

func (e *OutputError) Unwrap() error { return e.Err }

// UnconvergedError reports an iteration that did not converge (exit code 5). The result of the iteration is returned
// with the error.
type UnconvergedError struct{ What string }

func (e *UnconvergedError) Error() string { return e.What }

// StaleError reports a selection that no longer fits the data against which it was checked (exit code 6). The result of
// the check is returned with the error.
type StaleError struct{ Text }

func (e *StaleError) Error() string { return e.String() }

// UndecidedError reports that the evidence cannot decide whether a selection still fits new data (exit code 7). The
// result of the check is returned with the error.
type UndecidedError struct{ Text }

func (e *UndecidedError) Error() string { return e.String() }
