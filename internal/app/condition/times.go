package condition

import (
	"slices"
	"strings"
	"time"
)

// The layouts that a constant may have: for dates, times of day, times without a zone, times with a zone, and any time.
var (
	dateLayouts  = []string{"2006-01-02"}
	clockLayouts = []string{"15:04:05.999999999", "15:04"}
	localLayouts = []string{"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}
	zonedLayouts = []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00"}
	anyLayouts   = slices.Concat(zonedLayouts, localLayouts)
)

// ParseDate parses a date.
func ParseDate(s string) (time.Time, bool) { return parseTime(s, dateLayouts) }

// ParseClock parses a time of day. The result is that time on 1970-01-01.
func ParseClock(s string) (time.Time, bool) {
	at, ok := parseTime(s, clockLayouts)
	return at.AddDate(1970, 0, 0), ok // time.Parse places a time of day in the year 0
}

// ParseLocal parses a date with a time, or a date alone, without a time zone.
func ParseLocal(s string) (time.Time, bool) { return parseTime(s, localLayouts) }

// ParseUTC parses a date with a time, or a date alone. A time without a time zone is in UTC.
func ParseUTC(s string) (time.Time, bool) { return parseTime(s, anyLayouts) }

// HasZone reports whether s is a date and time that states its time zone.
func HasZone(s string) bool {
	_, zoned := parseTime(s, zonedLayouts)
	return zoned
}

func parseTime(s string, layouts []string) (time.Time, bool) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
