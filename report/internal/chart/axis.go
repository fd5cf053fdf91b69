package chart

import (
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
)

// axisRange returns the range of the x axis if x is set, else of the y axis. It covers everything drawn and is never
// empty. A linear y axis of positive values begins at zero if the lowest value is then in the lower half of the axis.
func (c Chart) axisRange(x bool) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	log := c.LogY
	if x {
		log = c.LogX
	}
	include := func(a, b float64) {
		if isDrawable(a, c.LogX) && isDrawable(b, c.LogY) {
			v := b
			if x {
				v = a
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	for _, s := range c.Series {
		for i := range s.X {
			include(s.X[i], s.Y[i])
			if s.Low != nil && isDrawable(s.Y[i], c.LogY) {
				include(s.X[i], s.Low[i])
				include(s.X[i], s.High[i])
			}
		}
	}
	if lo > hi {
		lo, hi = 0, 1
		if log {
			lo, hi = 1, 10
		}
	}
	if log {
		if hi/lo < 1.01 {
			lo, hi = lo/1.5, hi*1.5
		}
		return lo, hi
	}
	// Widen a range that is too narrow for distinct ticks.
	if size := max(math.Abs(lo), math.Abs(hi)); hi-lo <= 1e-9*size {
		pad := 0.05 * size
		if pad == 0 || x && lo == math.Trunc(lo) {
			pad = max(pad, 0.5)
		}
		lo, hi = lo-pad, hi+pad
	}
	switch {
	case !x && lo > 0 && lo < hi/2:
		lo = 0
	case !x && lo != 0:
		lo -= 0.04 * (hi/2 - lo/2) * 2 // keeps the line off the x axis
	}
	return lo, hi
}

// TickOptions determines which ticks an axis gets.
type TickOptions struct {
	log, Whole bool // a logarithmic axis; ticks at whole numbers only
	MaxLabels  int  // approximate number of labels that fit
}

// Tick is a mark on an axis. A tick without a label is a minor tick.
type Tick struct {
	Value float64
	Label string
}

// TickMarks returns the ticks from lo to hi.
func (t TickOptions) TickMarks(lo, hi float64) []Tick {
	if t.log && hi/lo >= 10 {
		return t.logarithmicTicks(lo, hi)
	}
	return t.linearTicks(lo, hi)
}

// linearTicks returns ticks at a distance of 1, 2 or 5 times a power of ten.
func (t TickOptions) linearTicks(lo, hi float64) []Tick {
	// Halve before subtracting, because hi − lo may overflow.
	rough := (hi/2 - lo/2) / float64(t.MaxLabels) * 2
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	var step, first, last float64
	// Use the smallest step with room for its labels, or the next smaller step if there would be fewer than two ticks.
	steps := []float64{10, 5, 2, 1, 0.5, 0.2, 0.1}
	for i, m := range steps {
		step = m * unit
		if t.Whole {
			step = max(1, math.Round(step))
		}
		first, last = math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
		if last > first && steps[min(i+1, len(steps)-1)]*unit < rough {
			break
		}
	}
	var list []Tick
	for i := range min(int(last-first)+1, 50) {
		v := (first + float64(i)) * step
		list = append(list, Tick{Value: v, Label: tickLabel(v, step)})
	}
	return list
}

func (t TickOptions) logarithmicTicks(lo, hi float64) []Tick {
	first, last := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	every := max(1, (last-first)/t.MaxLabels+1)
	minor := last-first < 8
	var list []Tick
	for e := first - 1; e <= last; e++ {
		v := math.Pow(10, float64(e))
		if e >= first && (e-first)%every == 0 {
			list = append(list, Tick{Value: v, Label: powerOfTen(e, first >= -3 && last <= 4)})
		}
		for m := 2.0; minor && m < 10; m++ {
			if m*v >= lo && m*v <= hi {
				list = append(list, Tick{Value: m * v})
			}
		}
	}
	return list
}

func tickLabel(v, step float64) string {
	if math.Abs(v) < step/1e6 {
		return "0"
	}
	switch decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9))); {
	case math.Abs(v) >= 1e6 || decimals > 8 || decimals > 5 && math.Abs(v) < 1e-3:
		// Keep the digits between the magnitude of v and that of the step.
		digits := max(0, int(math.Floor(math.Log10(math.Abs(v))+1e-9)-math.Floor(math.Log10(step)+1e-9)))
		s := strconv.FormatFloat(v, 'e', min(digits, 17), 64)
		mantissa, exponent, _ := strings.Cut(s, "e")
		e, _ := strconv.Atoi(exponent)
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return drawing.WithMinusSign(mantissa) + "×10" + drawing.SuperscriptDigits(e)
	default:
		return drawing.WithMinusSign(drawing.WithThousandsCommas(strconv.FormatFloat(v, 'f', decimals, 64)))
	}
}

// powerOfTen writes 10ᵉ: as digits such as 1,000 if inFull is set, else with an exponent.
func powerOfTen(e int, inFull bool) string {
	if inFull {
		return drawing.WithThousandsCommas(strconv.FormatFloat(math.Pow(10, float64(e)), 'f', max(0, -e), 64))
	}
	return "10" + drawing.SuperscriptDigits(e)
}
