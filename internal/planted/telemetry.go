package planted

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

// Telemetry generates what a data engineer finds in a lake: readings of sensors that repeat
// a few hidden factors, in Hive folders site=…/day=…, with nulls, and among them what is no
// measurement: ids, a time, constants, a copy, a sum, and a score that gives a label away.
//
//  1. Factor f, one for each of [Telemetry.Factors], is a standard normal series; its 3 to 8
//     sensors are it with a little noise of their own, in units of their own. The first has
//     most sensors.
//  2. The columns diag_01 to diag_40 are independent noise.
//  3. One reading in 100 is null.
//
// The right answer is one sensor of each factor, and none of the rest. Every value is a hash of seed,
// column and row, so that any file can be made by itself.
type Telemetry struct {
	Rows int64  // default 20,000, shared out evenly over the files
	Seed uint64 // default 1
}

// TelemetryColumn is a column of a file: Values is a []int64, []float64 with NaN for null, []string or
// []time.Time, one a row.
type TelemetryColumn struct {
	Name   string
	Values any
}

// Factors are the names of the factors; the sensors of one are called NAME_1, NAME_2, ….
func (Telemetry) Factors() []string {
	return []string{
		"boiler_temp", "pump_flow", "fan_speed", "line_pressure", "motor_current", "valve_angle",
		"tank_level", "bearing_noise", "inlet_humidity", "gas_ppm", "supply_voltage", "belt_tension",
	}
}

// Sensors is how many show factor f, counted from 0.
func (Telemetry) Sensors(f int) int { return 8 - f*6/12 }

const telemetryNoise = 40 // columns diag_…

// Folders are where the files lie, in the order of their rows.
func (Telemetry) Folders() (list []string) {
	for _, site := range []string{"north", "south"} {
		for day := range 4 {
			list = append(list, fmt.Sprintf("site=%s/day=2026-03-%02d", site, day+1))
		}
	}
	return list
}

// File is the table in folder i of Folders. It holds its values: 8 bytes each.
func (t Telemetry) File(i int) []TelemetryColumn {
	files := int64(len(t.Folders()))
	rows := cmp.Or(t.Rows, 20000)
	from, to := rows*int64(i)/files, rows*int64(i+1)/files
	b := telemetryFile{seed: cmp.Or(t.Seed, 1), from: from, rows: int(to - from)}

	b.whole("event_id", func(at int64) int64 { return 1_000_000 + at })
	// 48 bits of a bijective hash: unique, and in no order.
	b.whole("customer_id", func(at int64) int64 { return int64(splitmix.Mix(uint64(at)+b.seed) >> 16) })
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	times := make([]time.Time, b.rows)
	for r := range times {
		times[r] = begin.Add(time.Duration(i%4*24)*time.Hour + time.Duration(r)*time.Second)
	}
	b.add("event_time", times)
	modes := make([]string, b.rows)
	for r := range modes {
		modes[r] = []string{"auto", "auto", "manual", "service"}[b.series("mode").Bits(from+int64(r))%4]
	}
	b.add("mode", modes)

	factors := t.Factors()
	for f, name := range factors {
		factor := b.series(name)
		for s := 1; s <= t.Sensors(f); s++ {
			own := b.series(fmt.Sprintf("%s_%d", name, s))
			level, unit := float64(10*(f+1)+s), math.Pow(10, float64(f%4-1))
			b.real(fmt.Sprintf("%s_%d", name, s), 0.01, func(at int64) float64 {
				return level + unit*(factor.Normal(at)+0.2*own.Normal(at))
			})
		}
	}
	for n := range telemetryNoise {
		own := b.series("diag" + strconv.Itoa(n))
		b.real(fmt.Sprintf("diag_%02d", n+1), 0.01, own.Normal)
	}
	b.real("flow_total", 0, func(at int64) float64 { return b.reading("pump_flow_1", at) + b.reading("pump_flow_2", at) })
	b.real("boiler_temp_copy", 0, func(at int64) float64 { return b.reading("boiler_temp_1", at) })
	b.whole("firmware", func(int64) int64 { return 7 })
	b.real("alarm_code", 0.6, func(int64) float64 { return 3 })
	b.real("lab_sample", 0.95, b.series("lab").Normal)

	churn := b.series("churn")
	churned := func(at int64) bool { return churn.Normal(at)+0.5*b.series(factors[0]).Normal(at) > 1 }
	b.whole("churned", func(at int64) int64 {
		if churned(at) {
			return 1
		}
		return 0
	})
	score := b.series("score")
	b.real("churn_score_prev_model", 0, func(at int64) float64 {
		if churned(at) {
			return 0.9 + 0.03*score.Normal(at)
		}
		return 0.1 + 0.03*score.Normal(at)
	})
	return b.columns
}

// telemetryFile is a file in the making.
type telemetryFile struct {
	seed    uint64
	from    int64
	rows    int
	columns []TelemetryColumn
}

// series is the random series of a name.
func (b *telemetryFile) series(name string) Series {
	n := uint64(firstSeries)
	for _, c := range []byte(name) {
		n = splitmix.Hash(n, uint64(c))
	}
	return NewSeries(b.seed, n)
}

func (b *telemetryFile) add(name string, values any) {
	b.columns = append(b.columns, TelemetryColumn{name, values})
}

func (b *telemetryFile) whole(name string, value func(at int64) int64) {
	v := make([]int64, b.rows)
	for r := range v {
		v[r] = value(b.from + int64(r))
	}
	b.add(name, v)
}

// real adds a column of which about the share absent is null.
func (b *telemetryFile) real(name string, absent float64, value func(at int64) float64) {
	v, gone := make([]float64, b.rows), b.series(name+" is null")
	for r := range v {
		at := b.from + int64(r)
		if v[r] = value(at); float64(gone.Bits(at)>>11)*0x1p-53 < absent {
			v[r] = math.NaN()
		}
	}
	b.add(name, v)
}

// reading is the value of an earlier column.
func (b *telemetryFile) reading(name string, at int64) float64 {
	for _, c := range b.columns {
		if c.Name == name {
			return c.Values.([]float64)[at-b.from]
		}
	}
	panic("planted: no column " + name)
}
