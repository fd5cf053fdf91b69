package gram

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// LeftOut lists the columns that cannot be features under any fill, with the reason: no value observed, constant, or a
// centred sum of squares that float64 cannot represent. cols must be the columns of the profile.
func (p *Profile) LeftOut(cols []stream.Column) []stream.LeftOut {
	var out []stream.LeftOut
	for j := range p.Columns {
		if why := p.Columns[j].whyUnusable(p.Rows); why != "" {
			out = append(out, p.newLeftOut(cols, j, why))
		}
	}
	return out
}

func (p *Profile) newLeftOut(cols []stream.Column, column int, reason string) stream.LeftOut {
	var counts []string
	n := p.Columns[column].Missing
	for _, k := range []struct {
		n    int64
		kind string
	}{{n.Nulls, "null"}, {n.NaNs, "NaN"}, {n.Infs, "Inf"}} {
		if k.n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", k.n, k.kind))
		}
	}
	if counts != nil {
		reason += " (" + strings.Join(counts, ", ") + ")"
	}
	return cols[column].LeftOut(reason)
}

const (
	// minCentredShare is the share of the sum of squares about the pilot (see [Profile]) below which the centred sum of
	// squares counts as rounding error. A column falls below it only if the pilot's row has almost no weight and lies far
	// from other rows.
	minCentredShare = 64 * 0x1p-52
	// minSquares is the smallest sum of squares whose terms keep all their digits. Below it, squares fall into the
	// subnormal range.
	minSquares = 0x1p-1022 / 0x1p-52
)

// These reasons, or beginnings of reasons, are for columns without a value and for columns with a single value.
const (
	emptyColumn    = "no value observed"
	constantColumn = "constant ("
)

// IsConstant reports whether why, the reason for leaving out a column, is that the column has a single value.
func IsConstant(why string) bool { return strings.HasPrefix(why, constantColumn) }

// HoldsNothing reports whether why, the reason for leaving out a column, is that the column has at most one value.
func HoldsNothing(why string) bool { return IsConstant(why) || strings.HasPrefix(why, emptyColumn) }

// whyUnusable returns the reason why a column of a table with the given number of rows cannot be a feature, or "".
func (c *ColumnProfile) whyUnusable(rows int64) string {
	if c.Observed == 0 {
		return emptyColumn
	}
	if c.Min == c.Max {
		where := "in every row"
		if c.Observed < rows {
			where = "wherever observed"
		}
		return fmt.Sprintf(constantColumn+"%s %s)", strconv.FormatFloat(c.Min+0, 'g', -1, 64), where)
	}
	return whyImprecise(c.Squares-c.Sum*c.Sum/c.Weight, c.Squares)
}

// whyImprecise returns the reason why a centred sum of squares is too imprecise to use, or "". about is the sum of
// squares about the pilot, from which the centred sum was computed.
func whyImprecise(centred, about float64) string {
	switch {
	case !isFinite(centred):
		return "its centred sum of squares overflows"
	case centred < minSquares:
		return "its centred sum of squares underflows"
	case centred <= minCentredShare*about:
		return "its variation is below rounding error"
	}
	return ""
}

// filledColumn describes a column after its missing entries were filled.
type filledColumn struct {
	fillValue float64 // fill value of the missing entries
	offset    float64 // fillValue - pilot
	missing   float64 // Σw of the filled entries
	sum       float64 // Σw(y-s) over all rows, y being the filled value and s the pilot
	mean      float64
	centred   float64 // Σw(y-mean)²
	min       float64
	max       float64
}

// describeFilledColumn describes column j after filling, or returns the reason why the column cannot be a feature.
func (p *Profile) describeFilledColumn(j int, fill Fill) (filledColumn, string) {
	c := &p.Columns[j]
	if why := c.whyUnusable(p.Rows); why != "" {
		return filledColumn{}, why
	}
	f := filledColumn{min: c.Min, max: c.Max, sum: c.Sum, mean: c.Pilot + c.Sum/c.Weight}
	f.fillValue, f.offset = f.mean, c.Sum/c.Weight
	if fill == FillZero {
		f.fillValue, f.offset = 0, -c.Pilot
	}
	squares := c.Squares
	if fill == FillPairwise { // scale the sum over the observed entries up to all rows
		f.centred = (squares - f.sum*f.sum/c.Weight) * (p.Weight / c.Weight)
		return f, whyImprecise(f.centred, squares)
	}
	if c.Observed < p.Rows {
		f.missing = p.Weight - c.Weight
		f.sum += f.missing * f.offset
		f.mean = c.Pilot + f.sum/p.Weight
		squares += f.missing * f.offset * f.offset
		f.min, f.max = min(f.min, f.fillValue), max(f.max, f.fillValue)
	}
	f.centred = squares - f.sum*f.sum/p.Weight
	return f, whyImprecise(f.centred, squares)
}

// shiftAndFactor returns the shift and the factor by which a filled value y becomes a = (y - shift)·factor. It also
// returns c = mean - shift, computed without cancellation. weight is Σw over all rows. If the column cannot be scaled,
// why is the reason.
func (f *filledColumn) shiftAndFactor(scale Scale, weight float64) (shift, factor, c float64, why string) {
	factor = 1
	switch scale {
	case ScaleNone:
		c = f.mean
	case ScaleCenter, ScaleRank:
		shift = f.mean
	case ScaleStandard:
		shift, factor = f.mean, 1/math.Sqrt(f.centred/weight)
	case ScalePareto:
		shift, factor = f.mean, 1/math.Sqrt(math.Sqrt(f.centred/weight))
	case ScaleMinMax:
		shift, factor = f.min, 1/(f.max-f.min)
		c = f.mean - f.min
	case ScaleUnit:
		c = f.mean
		factor = 1 / math.Sqrt(f.centred+weight*c*c)
	}
	if factor == 0 || !isFinite(factor*factor*(f.centred+weight*c*c)) {
		why = "its sum of squares overflows"
	}
	return shift, factor, c, why
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
