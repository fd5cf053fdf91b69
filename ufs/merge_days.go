package ufs

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// What a merged file records of how it was merged, and selections from it show.
const (
	optionWindow = "window"
	optionDecay  = "decay"
)

// arrange orders the files, the oldest first, where a window or a decay makes the order
// matter, and says which are outside the window.
func (m *merger) arrange(ctx context.Context, files []string) (days, outside []string, err error) {
	if m.Window == 0 && m.Decay == 0 {
		return files, nil, nil
	}
	days = slices.Clone(files)
	slices.SortFunc(days, func(a, b string) int {
		return cmp.Or(cmp.Compare(place.Base(a), place.Base(b)), cmp.Compare(a, b))
	})
	if m.Window == 0 {
		days, err = m.totalFirst(ctx, days)
		return days, nil, err
	}
	n := max(len(days)-m.Window, 0)
	for _, path := range days[:n] {
		outside = append(outside, place.Name(path))
	}
	return days[n:], outside, nil
}

// totalFirst moves the total of the days before to the front. Only headers are read for this: of
// files in stores little more than those is fetched.
func (m *merger) totalFirst(ctx context.Context, days []string) ([]string, error) {
	for i, path := range days {
		h, err := chunkio.ReadStatsHeader(ctx, path, m.q.fetching())
		if err != nil {
			return nil, err
		}
		if h.Options[optionDecay] != "" {
			return slices.Concat(days[i:i+1], days[:i], days[i+1:]), nil
		}
	}
	return days, nil
}

// accepts refuses a file that cannot be added to those before it, by what it records.
func (m *merger) accepts(file *chunkio.StatsReader, kind string) error {
	path, window, decay := file.Path(), file.Header.Options[optionWindow], file.Header.Options[optionDecay]
	switch recorded, _ := strconv.ParseFloat(decay, 64); {
	case m.sum != nil && m.sum.kind != kind:
		return stream.Usagef("%s holds %s statistics and %s %s statistics; merge those of one kind", m.sum.path, m.sum.kind, path, kind)
	case m.Decay > 0 && kind == kindProfile:
		return stream.Usagef("{decay} is for statistics to select from, and %s holds a profile only", path)
	case m.Window == 0 && m.Decay == 0:
		return m.alike(path, decay)
	case window != "":
		return stream.Usagef("%s is the total of a window of %s files already; merge the files that it was made from, and the new ones, with {window}", path, window)
	case decay == "":
	case m.Window > 0:
		return stream.Usagef("%s is a decayed total already, of days that {window} cannot tell apart; merge the files of the days", path)
	case recorded != m.Decay:
		return stream.Usagef("{decay} %v: %s was merged with {decay} %s; go on with that, or merge the files of the days", m.Decay, path, decay)
	case m.sum != nil: // the first total goes first
		return stream.Usagef("%s and %s are both decayed totals, and {decay} goes on from one; add them without {decay} first, which takes their newest days for the same", m.sum.path, path)
	}
	return nil
}

// alike refuses to add a total of days to what is none, without saying how days weigh.
func (m *merger) alike(path, decay string) error {
	if m.sum == nil || m.sum.options[optionDecay] == decay {
		return nil
	}
	total, other := m.sum.path, path
	if m.sum.options[optionDecay] == "" {
		total, other = path, m.sum.path
	}
	return stream.Usagef("%s is a total of days that weigh less the older they are ({decay} %s), and %s is not; merge them with {decay} %[2]s: the total is then that of the days before",
		total, cmp.Or(m.sum.options[optionDecay], decay), other)
}

// discount multiplies the weight of all rows so far by γ, if there is one.
func (m *merger) discount() error {
	if m.Decay == 0 {
		return nil
	}
	if err := m.sum.discount(m.Decay); err != nil {
		return stream.Usagef("{decay}: %v; {window} keeps the newest files only", err)
	}
	return nil
}

// discount multiplies the weight of all rows by γ.
func (e *gathered) discount(gamma float64) error {
	if err := e.moments.Discount(gamma); err != nil {
		return err
	}
	if e.graph != nil {
		if err := e.graph.Discount(gamma); err != nil {
			return err
		}
	}
	if e.spread != nil {
		return e.spread.Discount(gamma)
	}
	return nil
}

// record records how the files were merged among the options of the whole.
func (m *merger) record() {
	e := m.sum
	if e.options == nil {
		e.options = make(map[string]string)
	}
	if m.Window > 0 {
		e.options[optionWindow] = strconv.Itoa(m.Window)
	}
	if m.Decay > 0 {
		e.options[optionDecay] = strconv.FormatFloat(m.Decay, 'g', -1, 64)
	}
}
