package program

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/stream"
)

// flagError turns pflag's errors into usage errors that name the values of the flag, or a flag with a similar name.
func flagError(cmd *cobra.Command, err error) error {
	// If the verb is misspelt, its flags are unknown too. Report the verb.
	if before := cmd.Flags().Args(); cmd.HasSubCommands() && len(before) > 0 {
		return cmd.RunE(cmd, before)
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return stream.Usagef("%s%v", err, nearestOrHelp(cmd, "--"+unknown.GetSpecifiedName(), known))
	}
	list := nearestOrHelp(cmd, "", nil)
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return stream.Usagef("%s %s: %w%v", FlagOf(invalid.GetFlag().Name), invalid.GetValue(), expectedValue(invalid), list)
	}
	return stream.Usagef("%s%v", err, list)
}

// ExpectedValue describes the values that a flag accepts. err is the error of setting the flag to another value.
func ExpectedValue(err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return expectedValue(invalid)
	}
	return err
}

// expectedValue describes the values that a flag accepts. If the type of the flag belongs to this project, the error
// contains a description of the values. If it belongs to pflag, the error only has the text of the parser.
func expectedValue(invalid *pflag.InvalidValueError) error {
	switch invalid.GetFlag().Value.Type() {
	case "bool":
		return errors.New("want true or false")
	case "int", "int64":
		return errors.New("want a whole number")
	case "intSlice":
		return errors.New("want whole numbers, as 1,10,100")
	case "uint64":
		return errors.New("want a whole number from 0 on")
	case "float64":
		return errors.New("want a number")
	case "duration":
		return errors.New("want a duration such as 30s or 5m")
	}
	return errors.Unwrap(invalid)
}

// Bytes is a flag value for a number of bytes, such as "512MiB", "4GB" or "1000000".
type Bytes int64

// String implements pflag.Value.
func (b *Bytes) String() string {
	for _, unit := range []struct {
		shift uint
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n := int64(*b); n != 0 && n%(1<<unit.shift) == 0 {
			return fmt.Sprintf("%d%s", n>>unit.shift, unit.name)
		}
	}
	return fmt.Sprint(int64(*b))
}

// Set implements pflag.Value: it parses a size such as "512MiB".
func (b *Bytes) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return errors.New("want a size such as 512MiB or 4GB")
	}
	*b = Bytes(n)
	return nil
}

// Type implements pflag.Value: it returns the word for the value in help texts.
func (b *Bytes) Type() string { return "size" }

// Moment is a flag value for a time, such as "2026-01-31" or "2026-01-31T08:00:00+01:00". The default zone is UTC, and
// the default time of day is midnight.
type Moment time.Time

// String implements pflag.Value.
func (m *Moment) String() string {
	if t := time.Time(*m); !t.IsZero() {
		return t.Format(time.RFC3339Nano)
	}
	return ""
}

// Set implements pflag.Value: it parses a time such as "2026-01-31".
func (m *Moment) Set(s string) error {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			*m = Moment(t)
			return nil
		}
	}
	return errors.New("want a time, as 2026-01-31 or 2026-01-31T08:00:00Z")
}

// Type implements pflag.Value: it returns the word for the value in help texts.
func (m *Moment) Type() string { return "time" }
