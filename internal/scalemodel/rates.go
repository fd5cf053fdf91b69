package scalemodel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// Unit is the unit of a rate.
type Unit string

// Units of rates.
const (
	ValuesPerSecond Unit = "values/s a core"
	FlopsPerSecond  Unit = "flop/s a core"
	BytesPerSecond  Unit = "bytes/s"
	Seconds         Unit = "s"
	Dollars         Unit = "dollars"
)

// Rate is one measured or assumed number of the model.
type Rate struct {
	Name   string
	Value  float64
	Unit   Unit
	Source string // Measured, Assumed or Given
	About  string // description of the rate, for people
}

// The possible sources of the value of a rate.
const (
	Measured = "measured" // measured on the machine that builds the project
	Assumed  = "assumed"  // a round number, because the rate differs from site to site
	Given    = "given"    // given by the user
)

// Names of the rates.
const (
	scanRate, profileRate, gramRate, anchorRate = "scan", "profile", "gram", "anchors"
	mergeRate, partTime, footerTime             = "merge", "part", "footer"
	startTime, latencyTime                      = "start", "latency"
	machineRate, storeRate                      = "machine-bandwidth", "store-bandwidth"
	corePrice                                   = "core-hour"
)

// Rates holds the rates of the model.
type Rates []Rate

// DefaultRates returns rates measured on the project's build machine, and round numbers for rates that depend on the
// site. The machine is a virtual one with 2 cores of an AMD EPYC with AVX-512, and nothing else ran. The times are user
// plus system seconds on one core (/usr/bin/time -f '%U %S', the shorter of 2 runs). `bench gen planted` made the files:
// (a) 2,000,000 rows of 100 columns, 1.5 GB, and (b) 200,000 rows of 1,000 columns, 1.6 GB. Each has 200 million doubles.
func DefaultRates() Rates {
	return Rates{
		// scan --threads 1 needs 1.46 s for (a) and 3.13 s for (b), including 0.01 s to start. With t = v/scan +
		// v·d/gram and v = 200e6, scan is 158e6 and gram 108e9. The pixels of E-MNIST, which are small integers, need 4.1 s,
		// half of the time by these rates. At a fifth of the rows the fixed costs of a scan lower the rates to 137e6 and 82e9.
		{scanRate, 158e6, ValuesPerSecond, Measured, "decoding, moments and histograms"},
		// scan --profile-only needs 0.68 s for (a), 0.71 s for (b), and 1.8 s for the 567 million pixels of E-MNIST.
		{profileRate, 290e6, ValuesPerSecond, Measured, "decoding and moments of each column"},
		{gramRate, 108e9, FlopsPerSecond, Measured, "G, rows·d² of them"},
		// scan --method sfufs --profile P.ufs needs 5.77 s for (a) with 2,000 anchors, and 5.01 s for (b) with 1,000. After
		// subtracting the time for the Gram matrix, the distances to the anchors are computed at 186e9 and 213e9 flop/s.
		{anchorRate, 190e9, FlopsPerSecond, Measured, "distances to anchors, 2·rows·d·anchors of them"},
		// merge --threads 1 of 64 parts of 1,000 columns (4.5 MB each) needs 0.72 s, and of 128 parts of 100 columns (81 KB)
		// 0.14 s. A start needs 0.02 s. So each part needs 11 ms with 1,000 columns and 1 ms with 100.
		{mergeRate, 460e6, BytesPerSecond, Measured, "adding up parts"},
		{partTime, 0.001, Seconds, Measured, "a part, whatever its size"},
		// plan needs 0.23 s for 64 files of 1,000 columns and one row group, and 0.08 s for E-MNIST (9 files of 901
		// columns and 9 row groups). This is 3.5 and 1 µs for each column of a row group.
		{footerTime, 3.5e-6, Seconds, Measured, "reading one column of one row group in a footer"},
		{startTime, 10, Seconds, Assumed, "until a scheduler has started a machine's work, each round"},
		{latencyTime, 0.05, Seconds, Assumed, "a request to the store; a plan asks for 16 footers at a time, a scan opens files one after another"},
		{machineRate, 250e6, BytesPerSecond, Assumed, "between the store and one machine"},
		// S3 accepts 5,500 requests a second below one prefix. If each request reads 8 MB, these are 44 GB/s.
		{storeRate, 40e9, BytesPerSecond, Assumed, "between the store and all machines"},
		// A c7i.2xlarge of Amazon EC2 has 8 virtual processors and costs 0.357 dollars an hour on demand in us-east-1.
		{corePrice, 0.045, Dollars, Assumed, "an hour of one core; the store's requests and bytes cost extra"},
	}
}

func (r Rates) rateValue(name string) float64 {
	for i := range r {
		if r[i].Name == name {
			return r[i].Value
		}
	}
	panic("scalemodel: no rate " + name) // names are constants of this package
}

// WithOverrides returns r with some rates replaced. The user's text has the form "start=60s,store-bandwidth=5GB". Rates
// in bytes are written as sizes per second, times as durations, and all other rates as plain numbers. It accepts 0 for
// times and prices.
func (r Rates) WithOverrides(text string) (Rates, error) {
	r = slices.Clone(r)
	if text == "" {
		return r, nil
	}
	for _, setting := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(setting), "=")
		at := slices.IndexFunc(r, func(rate Rate) bool { return rate.Name == name })
		if !ok || at < 0 {
			names := convert.Each(r, func(rate Rate) string { return rate.Name })
			return nil, fmt.Errorf("%q: want NAME=VALUE, of %s", setting, strings.Join(names, ", "))
		}
		v, err := r[at].Unit.parseValue(value)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", setting, err)
		}
		r[at].Value, r[at].Source = v, Given
	}
	return r, nil
}

func (u Unit) parseValue(text string) (float64, error) {
	switch u {
	case Seconds:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, errors.New("want a duration such as 30s or 50ms")
		}
		return d.Seconds(), nil
	case BytesPerSecond:
		n, err := humanize.ParseBytes(strings.TrimSuffix(text, "/s"))
		if err != nil || n == 0 {
			return 0, errors.New("want bytes a second such as 250MB")
		}
		return float64(n), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if u == Dollars && err == nil && v == 0 {
		return 0, nil
	}
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, errors.New("want a number above 0 such as 5e7")
	}
	return v, nil
}

// String formats the rate for people: "250 MB/s".
func (r Rate) String() string {
	switch r.Unit {
	case Seconds:
		return time.Duration(r.Value * float64(time.Second)).Round(100 * time.Nanosecond).String()
	case BytesPerSecond:
		return humanize.Bytes(uint64(r.Value)) + "/s"
	case Dollars:
		return fmt.Sprintf("$%.4g", r.Value)
	}
	v, prefix := humanize.ComputeSI(r.Value)
	return fmt.Sprintf("%.3g %s%s", v, prefix, r.Unit)
}
