package planted

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// Telemetry generates a table as in a data lake, in Hive folders site=…/day=…. It has readings of sensors, some of them
// null. The sensors measure a few hidden factors repeatedly. Some columns are not measurements: ids, a time, constants,
// a copy, a sum, and a score that reveals a label.
//
//  1. There is one factor for each of [Telemetry.Factors], a standard normal series. Each of its 3 to 8 sensors is the
//     factor plus a little noise, in a unit of its own. The first factor has most sensors.
//  2. The columns diag_01 to diag_40 are independent noise.
//  3. One reading in 100 is null.
//
// The right answer is one sensor of each factor, and no other column. Every value is a hash of seed, column and row, so
// that any file can be generated independently.
type Telemetry struct {
	Rows int64  // default 20,000, divided evenly among the files
	Seed uint64 // default 1
}

// TelemetryColumn is a column of a file. Values is a []int64, []float64 (NaN for null), []string or []time.Time with
// one element for each row.
type TelemetryColumn struct {
	Name   string
	Values any
}

// Factors returns the names of the factors. The sensors of factor NAME are called NAME_1, NAME_2, ….
func (Telemetry) Factors() []string {
	return []string{
		"boiler_temp", "pump_flow", "fan_speed", "line_pressure", "motor_current", "valve_angle",
		"tank_level", "bearing_noise", "inlet_humidity", "gas_ppm", "supply_voltage", "belt_tension",
	}
}

// SensorCount returns the number of sensors of factor f, counted from 0.
func (Telemetry) SensorCount(f int) int { return 8 - f*6/12 }

const telemetryNoise = 40 // number of columns diag_…

// Folders returns the folders of the files, in the order of their rows. Each folder has one file.
func (Telemetry) Folders() (list []string) {
	for _, site := range []string{"north", "south"} {
		for day := range 4 {
			list = append(list, fmt.Sprintf("site=%s/day=2026-03-%02d", site, day+1))
		}
	}
	return list
}

// MakeFile generates the file in folder number i of Folders. It needs 8 bytes of memory for each value.
func (t Telemetry) MakeFile(i int) []TelemetryColumn {
	files := int64(len(t.Folders()))
	rows := cmp.Or(t.Rows, 20000)
	from, to := rows*int64(i)/files, rows*int64(i+1)/files
	b := telemetryFile{seed: cmp.Or(t.Seed, 1), from: from, rows: int(to - from)}

	b.addIntegers("event_id", func(at int64) int64 { return 1_000_000 + at })
	// 48 bits of a hash serve as identifiers. They hardly ever repeat, and are in random order.
	b.addIntegers("customer_id", func(at int64) int64 { return int64(splitmix.Mix(uint64(at)+b.seed) >> 16) })
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	times := make([]time.Time, b.rows)
	for r := range times {
		times[r] = begin.Add(time.Duration(i%4*24)*time.Hour + time.Duration(r)*time.Second)
	}
	b.addColumn("event_time", times)
	modes := make([]string, b.rows)
	for r := range modes {
		modes[r] = []string{"auto", "auto", "manual", "service"}[b.namedSeries("mode").Bits(from+int64(r))%4]
	}
	b.addColumn("mode", modes)

	factors := t.Factors()
	for f, name := range factors {
		factor := b.namedSeries(name)
		for s := 1; s <= t.SensorCount(f); s++ {
			own := b.namedSeries(fmt.Sprintf("%s_%d", name, s))
			level, unit := float64(10*(f+1)+s), math.Pow(10, float64(f%4-1))
			b.addReals(fmt.Sprintf("%s_%d", name, s), 0.01, func(at int64) float64 {
				return level + unit*(factor.Normal(at)+0.2*own.Normal(at))
			})
		}
	}
	for n := range telemetryNoise {
		own := b.namedSeries("diag" + strconv.Itoa(n))
		b.addReals(fmt.Sprintf("diag_%02d", n+1), 0.01, own.Normal)
	}
	b.addReals("flow_total", 0, func(at int64) float64 { return b.earlierValue("pump_flow_1", at) + b.earlierValue("pump_flow_2", at) })
	b.addReals("boiler_temp_copy", 0, func(at int64) float64 { return b.earlierValue("boiler_temp_1", at) })
	b.addIntegers("firmware", func(int64) int64 { return 7 })
	b.addReals("alarm_code", 0.6, func(int64) float64 { return 3 })
	b.addReals("lab_sample", 0.95, b.namedSeries("lab").Normal)

	churn := b.namedSeries("churn")
	churned := func(at int64) bool { return churn.Normal(at)+0.5*b.namedSeries(factors[0]).Normal(at) > 1 }
	b.addIntegers("churned", func(at int64) int64 {
		if churned(at) {
			return 1
		}
		return 0
	})
	score := b.namedSeries("score")
	b.addReals("churn_score_prev_model", 0, func(at int64) float64 {
		if churned(at) {
			return 0.9 + 0.03*score.Normal(at)
		}
		return 0.1 + 0.03*score.Normal(at)
	})
	return b.columns
}

// telemetryFile is a file under construction.
type telemetryFile struct {
	seed    uint64
	from    int64
	rows    int
	columns []TelemetryColumn
}

func (b *telemetryFile) namedSeries(name string) Series {
	n := uint64(firstSeries)
	for _, c := range []byte(name) {
		n = splitmix.Hash(n, uint64(c))
	}
	return NewSeries(b.seed, n)
}

func (b *telemetryFile) addColumn(name string, values any) {
	b.columns = append(b.columns, TelemetryColumn{name, values})
}

func (b *telemetryFile) addIntegers(name string, value func(at int64) int64) {
	v := make([]int64, b.rows)
	for r := range v {
		v[r] = value(b.from + int64(r))
	}
	b.addColumn(name, v)
}

func (b *telemetryFile) addReals(name string, nullShare float64, value func(at int64) float64) {
	v, nulls := make([]float64, b.rows), b.namedSeries(name+" is null")
	for r := range v {
		at := b.from + int64(r)
		if v[r] = value(at); float64(nulls.Bits(at)>>11)*0x1p-53 < nullShare {
			v[r] = math.NaN()
		}
	}
	b.addColumn(name, v)
}

func (b *telemetryFile) earlierValue(name string, row int64) float64 {
	for _, c := range b.columns {
		if c.Name == name {
			return c.Values.([]float64)[row-b.from]
		}
	}
	panic("planted: no column " + name)
}
