package stream

import (
	"errors"
	"fmt"
	"strings"
)

// UsageError is a request that cannot be right, whatever the data (exit code 2).
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// DataError is bad data or a bad file, with its place and what to do (exit code 3).
// Fields that do not apply are zero; RowGroup and Row are -1 where unknown.
type DataError struct {
	Path     string
	RowGroup int    // zero-based, within the file; -1 unknown
	Column   string // flattened name
	Row      int64  // zero-based, within the file; -1 unknown
	Err      error
	Remedy   string
}

// Dataf makes a DataError of a whole file.
func Dataf(path, format string, args ...any) *DataError {
	return &DataError{Path: path, RowGroup: -1, Row: -1, Err: fmt.Errorf(format, args...)}
}

// Error is "path: row group 2, column "x", row 17: what; remedy".
func (e *DataError) Error() string {
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
	for _, s := range []string{e.Path, strings.Join(place, ", "), e.Err.Error()} {
		if s == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(s)
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

func (e *DataError) Unwrap() error { return e.Err }

// ErrMissing is wrapped by the DataError that a Source under [MissingError] ends with.
var ErrMissing = errors.New("missing value")

// MemoryError says that a limit cannot be met, and the smallest that can (exit code 4).
type MemoryError struct {
	What        string // what needs the memory or scratch space
	Need, Limit int64  // bytes
	Flag        string // the flag that sets the limit: "--memory-limit", "--max-temp-size"
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s needs %s but the limit is %s; raise it: %s %dMiB",
		e.What, mib(e.Need), mib(e.Limit), e.Flag, (e.Need+1<<20-1)>>20)
}

func mib(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
