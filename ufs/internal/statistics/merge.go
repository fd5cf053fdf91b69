package statistics

import (
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// AddStates merges the statistics of o into e. It returns the sections of the states that only one of them has, so that
// e has them no more. The headers of their files were already compared, so only the statistics themselves can differ in
// shape.
func AddStates(e, o *Bundle) (lost []string, err error) {
	mainLast := slices.Clone(mainKinds)
	slices.Reverse(mainLast)
	for _, k := range slices.Concat(sideKinds, mainLast) {
		hasState := k.state(e) != nil
		switch {
		case hasState != (k.state(o) != nil) && k.lackInSum != nil:
			err = k.lackInSum(e)
			lost = append(lost, k.section)
			k.drop(e)
		case hasState && !k.isShared:
			err = k.merge(e, o)
		}
		if err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// SubtractStates removes the statistics of o, which are of rows that were added to e, from e. States that cannot be
// subtracted, or that o lacks, are dropped, and their sections are returned. After an error neither can be used.
func SubtractStates(e, o *Bundle) (lost []string, err error) {
	for _, k := range stateKindsIn(e) {
		if k.subtract == nil || k.state(o) == nil {
			lost = append(lost, k.section)
			k.drop(e)
		} else if err := k.subtract(e, o); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// MergedBytes returns the memory of the states of e after the states of o are merged into them. o may be nil.
func MergedBytes(e, o *Bundle, threads int) (n int64) {
	if o == nil {
		o = &Bundle{}
	}
	for _, k := range stateKindsIn(e) {
		n += k.mergedBytes(e, o, threads)
	}
	return n
}

func SampleBytes(e *Bundle) (n int64) {
	for _, k := range stateKindsIn(e) {
		if k.isSample {
			n += k.mergedBytes(e, &Bundle{}, 0)
		}
	}
	return n
}

func FirstOptionDifference(a, b map[string]string) stream.Text {
	both := make(map[string]string, len(a)+len(b))
	maps.Copy(both, a)
	maps.Copy(both, b)
	// Compare OptionSampleRows first: a file without sampled rows also lacks the policy for their missing values.
	for _, option := range append([]string{request.OptionSampleRows}, request.SortedKeys(both)...) {
		if a[option] != b[option] {
			x, y := a[option], b[option]
			if option == request.OptionFrequencies {
				return stream.Textf("{rows-scale} tfidf by the frequencies of other rows; scan all parts by one plan, or with one {profile}")
			}
			if option == request.OptionSampleMissing {
				option = "missing"
			}
			return stream.Textf("%v %q against %q", stream.Option(option), x, y)
		}
	}
	return stream.PlainText("unknown")
}

// DiscountRows multiplies the weights of the rows by gamma, and drops a sample of rows, which has none.
func DiscountRows(e *Bundle, gamma float64) error {
	for _, k := range stateKindsIn(e) {
		if k.discount != nil {
			if err := k.discount(e, gamma); err != nil {
				return err
			}
		}
	}
	return nil
}

// SetLimit changes the limit of each state of e that has a limit of its own.
func SetLimit(e *Bundle, limit int64) {
	for _, k := range stateKindsIn(e) {
		if k.setLimit != nil {
			k.setLimit(e, limit)
		}
	}
}
