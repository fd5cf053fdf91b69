package ufs

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// What a merged file records of how it was merged, and selections from it show.
const (
	optionWindow = "window"
	optionDecay  = "decay"
)

// arrange orders the files of the request, the oldest first, where a window or a decay makes
// the order matter, and says which are outside the window. heads are what the files say of
// themselves.
func (m *MergeRequest) arrange(heads []*gathered, from method.From) (files, outside []string, err error) {
	switch {
	case m.Window < 0:
		return nil, nil, stream.Usagef("{window} %d: want a number of files", m.Window)
	case !(m.Decay >= 0 && m.Decay <= 1):
		return nil, nil, stream.Usagef("{decay} %v: want a number above 0 and up to 1, by which every day before weighs less", m.Decay)
	case m.Decay > 0 && from == method.FromProfile:
		return nil, nil, stream.Usagef("{decay} is for statistics to select from, and %s holds a profile only", m.Files[0])
	}
	days, err := m.sorted(heads)
	if err != nil {
		return nil, nil, err
	}
	if n := len(days) - m.Window; m.Window > 0 && n > 0 {
		for _, d := range days[:n] {
			outside = append(outside, d.path)
		}
		days = days[n:]
	}
	for _, d := range days {
		files = append(files, d.path)
	}
	return files, outside, nil
}

// dayFile is a statistics file, and what it records of being a total of days.
type dayFile struct {
	path, window, decay string
}

// sorted puts the files in the order of their names, after the total of the days before them.
func (m *MergeRequest) sorted(heads []*gathered) ([]dayFile, error) {
	days := make([]dayFile, len(heads))
	for i, h := range heads {
		days[i] = dayFile{m.Files[i], h.options[optionWindow], h.options[optionDecay]}
	}
	if m.Window == 0 && m.Decay == 0 {
		return days, m.alike(days)
	}
	slices.SortFunc(days, func(a, b dayFile) int {
		return cmp.Or(
			cmp.Compare(isSet(b.decay), isSet(a.decay)),
			cmp.Compare(filepath.Base(a.path), filepath.Base(b.path)),
			cmp.Compare(a.path, b.path))
	})
	for i, d := range days {
		switch recorded, _ := strconv.ParseFloat(d.decay, 64); {
		case d.window != "":
			return nil, stream.Usagef("%s is the total of a window of %s files already; merge the files that it was made from, and the new ones, with {window}", d.path, d.window)
		case d.decay == "":
		case m.Window > 0:
			return nil, stream.Usagef("%s is a decayed total already, of days that {window} cannot tell apart; merge the files of the days", d.path)
		case recorded != m.Decay:
			return nil, stream.Usagef("{decay} %v: %s was merged with {decay} %s; go on with that, or merge the files of the days", m.Decay, d.path, d.decay)
		case i > 0:
			return nil, stream.Usagef("%s and %s are both decayed totals, and {decay} goes on from one; add them without {decay} first, which takes their newest days for the same", days[0].path, d.path)
		}
	}
	return days, nil
}

// alike refuses to add a total of days to what is none, without saying how days weigh.
func (m *MergeRequest) alike(days []dayFile) error {
	for _, d := range days[1:] {
		if first := days[0]; d.decay != first.decay {
			total, other := first, d
			if first.decay == "" {
				total, other = d, first
			}
			return stream.Usagef("%s is a total of days that weigh less the older they are ({decay} %s), and %s is not; merge them with {decay} %[2]s: the total is then that of the days before", total.path, total.decay, other.path)
		}
	}
	return nil
}

func isSet(s string) int { return min(len(s), 1) }

// recordIn records how files were merged among the options of the whole.
func (m *MergeRequest) recordIn(options map[string]string) {
	if m.Window > 0 {
		options[optionWindow] = strconv.Itoa(m.Window)
	}
	if m.Decay > 0 {
		options[optionDecay] = strconv.FormatFloat(m.Decay, 'g', -1, 64)
	}
}
