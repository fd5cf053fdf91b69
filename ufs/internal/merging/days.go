package merging

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// orderByDay sorts the files by name, the oldest day first, if option {window} or {decay} makes their order matter. It
// returns the files within the window, and the display names of the older files.
func (m *merger) orderByDay(files []string) (days, outside []string) {
	if m.Window == 0 && m.Decay == 0 {
		return files, nil
	}
	days = slices.Clone(files)
	slices.SortFunc(days, func(a, b string) int {
		return cmp.Or(cmp.Compare(place.Base(a), place.Base(b)), cmp.Compare(a, b))
	})
	if m.Window == 0 {
		return days, nil
	}
	n := max(len(days)-m.Window, 0)
	for _, path := range days[:n] {
		outside = append(outside, place.DisplayName(path))
	}
	return days[n:], outside
}

// checkAddable refuses the file f if its kind or its recorded options do not allow adding it to first, the first file.
func (m *merger) checkAddable(first, f *mergedFile, isFirst bool) error {
	if err := statistics.CheckKind(f.name, f.kind); err != nil {
		return err
	}
	switch recorded, _ := strconv.ParseFloat(f.decay, 64); {
	case f.kind != first.kind:
		return stream.Usagef("%s holds %s statistics and %s %s statistics; merge those of one kind", first.name, first.kind, f.name, f.kind)
	case len(m.Minus) > 0 && f.decay != "":
		return stream.Usagef("{minus}: %s is a total of days that weigh less the older they are ({decay} %s), so its rows have other weights than elsewhere; merge the files of the remaining days", f.name, f.decay)
	case m.Decay > 0 && (f.kind == statistics.KindProfile || f.kind == statistics.KindSketch || f.kind == statistics.KindSketchedGraph):
		return stream.Usagef("{decay} is for statistics to select from, and %s holds a profile only", f.name)
	case m.Window == 0 && m.Decay == 0:
		return checkTotals(first, f)
	case f.window != "":
		return stream.Usagef("%s is the total of a window of %s files already; merge the files that it was made from, and the new ones, with {window}", f.name, f.window)
	case f.decay == "":
	case m.Window > 0:
		return stream.Usagef("%s is a decayed total already, of days that {window} cannot tell apart; merge the files of the days", f.name)
	case recorded != m.Decay:
		return stream.Usagef("{decay} %v: %s was merged with {decay} %s; continue with that, or merge the files of the days", m.Decay, f.name, f.decay)
	case !isFirst: // {decay} can continue a total only if it is the first file
		return stream.Usagef("%s and %s are both decayed totals, and {decay} goes on from one; add them without {decay} first, which takes their newest days for the same", first.name, f.name)
	}
	return nil
}

// checkTotals, for a merge without option {decay}, refuses to add two files whose recorded values of {decay} differ.
func checkTotals(first, f *mergedFile) error {
	if first.decay == f.decay {
		return nil
	}
	total, other := first, f
	if first.decay == "" {
		total, other = f, first
	}
	return stream.Usagef("%s is a total of days that weigh less the older they are ({decay} %s), and %s is not; merge them with {decay} %[2]s: the total then covers the days before",
		total.name, total.decay, other.name)
}

func (m *merger) discountByAge(e *statistics.Bundle, files int) error {
	if m.Decay == 0 {
		return nil
	}
	// An underflow becomes the smallest positive number, so that Discount reports rows without weight.
	gamma := max(math.Pow(m.Decay, float64(files)), math.SmallestNonzeroFloat64)
	if err := statistics.DiscountRows(e, gamma); err != nil {
		return stream.Usagef("{decay}: %v; {window} keeps the newest files only", err)
	}
	return nil
}

func (m *merger) recordMergeOptions(e *statistics.Bundle) {
	if e.Options == nil {
		e.Options = make(map[string]string)
	}
	if m.Window > 0 {
		e.Options[request.OptionWindow] = strconv.Itoa(m.Window)
	}
	if m.Decay > 0 {
		e.Options[request.OptionDecay] = strconv.FormatFloat(m.Decay, 'g', -1, 64)
	}
}
