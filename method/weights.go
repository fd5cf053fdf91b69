package method

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Weight is the weight of a term of an objective. It is a number, or a share, such as "0.1x", of a reference value that
// the method computes.
type Weight struct {
	Value float64
	Share bool
}

// Of returns the weight as a number. If the weight is a share, it is multiplied by whole, its reference value.
func (w Weight) Of(whole float64) float64 {
	if w.Share {
		return w.Value * whole
	}
	return w.Value
}

func (w Weight) String() string {
	s := strconv.FormatFloat(w.Value, 'g', -1, 64)
	if w.Share {
		s += "x"
	}
	return s
}

// Weights is the value of an option for the weight of a term of an objective. Several weights, as a list or a range of
// decades, request a path: a selection for each of them. Empty means the method's default.
type Weights []Weight

func (w Weights) String() string {
	parts := make([]string, len(w))
	for i, x := range w {
		parts[i] = x.String()
	}
	return strings.Join(parts, ",")
}

// Set parses texts such as "1", "0.1,1,10", "1e-3..1e3", "0.1x" or "1e-3x..1x".
func (w *Weights) Set(s string) error {
	var out Weights
	for part := range strings.SplitSeq(s, ",") {
		from, to, run := strings.Cut(part, "..")
		a, err := parseWeight(from)
		if err != nil {
			return err
		}
		if !run {
			out = append(out, a)
			continue
		}
		b, err := parseWeight(to)
		if err != nil {
			return err
		}
		if a.Share != b.Share {
			return fmt.Errorf("%q: want two numbers, or two shares, as 1e-3x..1x", part)
		}
		if !(a.Value > 0 && b.Value >= a.Value) {
			return fmt.Errorf("%q: want FROM..TO with 0 < FROM <= TO, as 1e-3..1e3", part)
		}
		steps := int(math.Floor(math.Log10(b.Value) - math.Log10(a.Value) + 1e-9)) // not Log10(b/a), which may overflow
		for i := range steps + 1 {
			x, err := timesPowerOfTen(a.Value, i)
			if err != nil {
				return err
			}
			out = append(out, Weight{x, a.Share})
		}
	}
	*w = out
	return nil
}

// timesPowerOfTen returns a·10ⁱ. It computes in decimal, so that 1e-3..1e3 contains 0.1 and not 0.1000…01.
func timesPowerOfTen(a float64, i int) (float64, error) {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(a, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(digits+"e"+strconv.Itoa(e+i), 64)
}

func parseWeight(text string) (Weight, error) {
	digits, share := strings.CutSuffix(strings.TrimSpace(text), "x")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return Weight{}, fmt.Errorf("%q: want a number of at least 0", text)
	}
	return Weight{x, share}, nil
}

// Record returns w as a value for the record of a run: a number, or a text for several weights.
func (w Weights) Record() any {
	if len(w) == 1 && !w[0].Share {
		return w[0].Value
	}
	return w.String()
}

// Or returns w or, if w is empty, the weights in otherwise.
func (w Weights) Or(otherwise ...Weight) Weights {
	if len(w) > 0 {
		return w
	}
	return otherwise
}

// Values returns the numbers of the weights; shares are not multiplied by their reference value.
func (w Weights) Values() []float64 {
	var out []float64
	for _, x := range w {
		out = append(out, x.Value)
	}
	return out
}

// First returns the value of the first weight, or 0 if w is empty.
func (w Weights) First() float64 {
	if len(w) == 0 {
		return 0
	}
	return w[0].Value
}

// RefuseShares returns an error if w contains shares, for a method without a reference value.
func (w Weights) RefuseShares(option, method string) error {
	for _, x := range w {
		if x.Share {
			return stream.Usagef("%v %v: method %s has nothing to take a share of; want a number", stream.Option(option), x, method)
		}
	}
	return nil
}
