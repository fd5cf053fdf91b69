package text

import (
	"bytes"
	"cmp"
	"strconv"
)

// Instant is a date, a date and time, or a time of day: seconds since 1970 (or midnight) and nanoseconds, 0 to
// 999,999,999. Instants can be compared even if they come from files with different units.
type Instant struct {
	Second int64
	Nano   int32
}

// Compare returns -1, 0 or 1 if i is before, equal to or after j.
func (i Instant) Compare(j Instant) int {
	if c := cmp.Compare(i.Second, j.Second); c != 0 {
		return c
	}
	return cmp.Compare(i.Nano, j.Nano)
}

// InstantOf converts a number of units of time since 1970 or midnight. A second has perSecond units.
func InstantOf(units, perSecond int64) Instant {
	second := divideRoundingDown(units, perSecond)
	return Instant{second, int32((units - second*perSecond) * (1e9 / perSecond))}
}

// InstantOfDays converts a number of days since 1970.
func InstantOfDays(days int64) Instant { return Instant{Second: days * 86400} }

// ParseInstant parses the texts that AppendTime, AppendDate and AppendClock write, and the texts of 12-byte timestamps.
// A time outside the years 0 to 9999 is written as an integer: perSecond is the number of its units per second, or 0 if
// its unit is a day. A Z at the end is ignored. The result is false for any other text.
func ParseInstant(b []byte, perSecond int64) (Instant, bool) {
	b = bytes.TrimSuffix(b, []byte("Z"))
	switch {
	case len(b) >= 10 && b[4] == '-' && b[7] == '-':
		year, month, day := parseDigits(b[:4]), parseDigits(b[5:7]), parseDigits(b[8:10])
		if year < 0 || month < 1 || month > 12 || day < 1 || day > 31 {
			return Instant{}, false
		}
		at := Instant{Second: 86400 * daysSince1970(year, month, day)}
		if len(b) == 10 {
			return at, true
		}
		if b[10] != 'T' && b[10] != ' ' {
			return Instant{}, false
		}
		clock, ok := parseTimeOfDay(b[11:])
		return Instant{at.Second + clock.Second, clock.Nano}, ok
	case len(b) >= 8 && b[2] == ':':
		return parseTimeOfDay(b)
	}
	if days, nanos, ok := bytes.Cut(bytes.TrimSuffix(b, []byte("ns")), []byte("d")); ok {
		d, err := strconv.ParseInt(string(days), 10, 64)
		n, err2 := strconv.ParseInt(string(nanos), 10, 64)
		at := InstantOf(n, 1e9)
		return Instant{at.Second + 86400*d, at.Nano}, err == nil && err2 == nil
	}
	units, err := strconv.ParseInt(string(b), 10, 64)
	if perSecond == 0 {
		return InstantOfDays(units), err == nil
	}
	return InstantOf(units, perSecond), err == nil
}

func parseTimeOfDay(b []byte) (Instant, bool) {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return Instant{}, false
	}
	hour, minute, second := parseDigits(b[:2]), parseDigits(b[3:5]), parseDigits(b[6:8])
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return Instant{}, false
	}
	at := Instant{Second: 3600*hour + 60*minute + second}
	if b = b[8:]; len(b) == 0 {
		return at, true
	}
	if b[0] != '.' || len(b) == 1 || len(b) > 10 {
		return Instant{}, false
	}
	nano := parseDigits(b[1:])
	for range 10 - len(b) {
		nano *= 10
	}
	at.Nano = int32(nano)
	return at, nano >= 0
}

// parseDigits parses a number of at most 9 digits. It returns -1 if b is not such a number.
func parseDigits(b []byte) (n int64) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// daysSince1970 returns the number of days since 1970-01-01 in the Gregorian calendar. Years begin in March in this
// computation, so that the leap day is the last day of a year.
func daysSince1970(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := divideRoundingDown(year, 400)
	inEra := year - 400*era
	inYear := (153*(month-3)+2)/5 + day - 1
	return 146097*era + 365*inEra + inEra/4 - inEra/100 + inYear - 719468
}
