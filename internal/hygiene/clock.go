package hygiene

// clock is what whole numbers may count: a set of the units below in which all values are times of the
// years 1990 to 2049.
type clock uint8

const (
	noClock  clock = 0
	anyClock clock = 1<<5 - 1
)

// units are what numbers count since 1970, and dates written as 20260131.
var units = [...]struct {
	name     string
	from, to float64
}{
	{"seconds since 1970", 631152000, 2524608000},
	{"milliseconds since 1970", 631152000e3, 2524608000e3},
	{"microseconds since 1970", 631152000e6, 2524608000e6},
	{"nanoseconds since 1970", 631152000e9, 2524608000e9},
	{"dates as YYYYMMDD", 19900101, 20500101},
}

func (c clock) and(o clock) clock { return c & o }

// unit names the unit; "" where there is none, or no value to tell.
func (c clock) unit() string {
	for i := range units {
		if c == 1<<i {
			return units[i].name
		}
	}
	return ""
}

// clockOf says which of the units may be all values are times in.
func clockOf(values []float64, of clock) clock {
	for _, x := range values {
		if x != x {
			continue
		}
		if !whole(x) {
			return noClock
		}
		for i, u := range units {
			if of&(1<<i) != 0 && !(x >= u.from && x < u.to) {
				of &^= 1 << i
			}
		}
		if of&(1<<4) != 0 {
			if day, month := int(x)%100, int(x)/100%100; day < 1 || day > 31 || month < 1 || month > 12 {
				of &^= 1 << 4
			}
		}
		if of == noClock {
			break
		}
	}
	return of
}
