package hygiene

// unitSet is a set of time units: the units in which all values of a column are times in the years 1990 to 2049.
type unitSet uint8

const (
	noUnits  unitSet = 0
	allUnits unitSet = 1<<5 - 1
)

// timeUnits lists units of time counted from 1970, and dates written as 20260131, with their range from 1990 to 2049.
var timeUnits = [...]struct {
	name     string
	from, to float64
}{
	{"seconds since 1970", 631152000, 2524608000},
	{"milliseconds since 1970", 631152000e3, 2524608000e3},
	{"microseconds since 1970", 631152000e6, 2524608000e6},
	{"nanoseconds since 1970", 631152000e9, 2524608000e9},
	{"dates as YYYYMMDD", 19900101, 20500101},
}

func (c unitSet) intersectUnits(o unitSet) unitSet { return c & o }

func (c unitSet) unitName() string {
	for i := range timeUnits {
		if c == 1<<i {
			return timeUnits[i].name
		}
	}
	return ""
}

func possibleUnits(values []float64, possible unitSet) unitSet {
	for _, x := range values {
		if x != x {
			continue
		}
		if !isWhole(x) {
			return noUnits
		}
		for i, u := range timeUnits {
			if possible&(1<<i) != 0 && !(x >= u.from && x < u.to) {
				possible &^= 1 << i
			}
		}
		if possible&(1<<4) != 0 {
			if day, month := int(x)%100, int(x)/100%100; day < 1 || day > 31 || month < 1 || month > 12 {
				possible &^= 1 << 4
			}
		}
		if possible == noUnits {
			break
		}
	}
	return possible
}
