package print

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// CountNoun writes a number with a noun, such as "1 file" or "2 files".
func CountNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

func rowsText(used, all int64) string {
	if used == all {
		return humanize.Comma(used) + " rows"
	}
	return fmt.Sprintf("%s of %s rows", humanize.Comma(used), humanize.Comma(all))
}

func andMoreText(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %s more", humanize.Comma(int64(n)))
}

// exactDecimal returns the shortest decimal number that is read back as n, or "" if n is NaN or infinite.
func exactDecimal(n stream.Number) string { return formatFinite(n, -1, "") }

// roundedNumber returns n with five digits, or "-" if n is NaN or infinite.
func roundedNumber(n stream.Number) string { return formatFinite(n, 5, "-") }

func formatFinite(n stream.Number, digits int, otherwise string) string {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return otherwise
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}

func unknownNumber() stream.Number { return stream.Number(math.NaN()) }

func numberOrUnknown(n *stream.Number) stream.Number {
	if n == nil {
		return unknownNumber()
	}
	return *n
}

func percentText(share stream.Number) string {
	if math.IsNaN(float64(share)) {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100*float64(share))
}

func pValueText(p stream.Number) string {
	switch x := float64(p); {
	case math.IsNaN(x):
		return "-"
	case x < 0.0001:
		return "<0.0001"
	default:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
}

func shareText(n stream.Number) string {
	if math.IsNaN(float64(n)) {
		return "-"
	}
	return strconv.FormatFloat(float64(n), 'f', 4, 64)
}

// TransferText describes the amount of data transferred from object stores.
func TransferText(t stream.Transfer) string {
	text := fmt.Sprintf("fetched %s in %s", humanize.IBytes(uint64(t.Fetched)), CountNoun(int(t.Requests), "request"))
	if t.Retries > 0 {
		text += fmt.Sprintf(", %s of them sent again", humanize.Comma(t.Retries))
	}
	return text
}

// printTransfer prints the amount of data transferred from object stores, if there was any.
func printTransfer(w *screen.Page, t *stream.Transfer) {
	if t == nil {
		return
	}
	w.Printf("\n%s from object stores\n", TransferText(*t))
}

// DescribeCosts describes the passes, time and memory of a run, and the threads' busy time in each part of it, except
// zeros.
func DescribeCosts(passes int, t stream.Timing, m stream.Memory) (lines []string) {
	count := ""
	switch passes {
	case 0:
	case 1:
		count = "1 pass, "
	default:
		count = humanize.Comma(int64(passes)) + " passes, "
	}
	lines = []string{fmt.Sprintf("%s%.2f s, peak memory %s of %s", count, t.Wall, humanize.IBytes(uint64(m.PeakRSS)), humanize.IBytes(uint64(m.Limit)))}
	var busy []string
	for _, part := range []struct {
		name    string
		seconds float64
	}{
		{"read", t.Parts.Read}, {"decode", t.Parts.Decode}, {"convert", t.Parts.Convert},
		{"gram", t.Parts.Gram}, {"search", t.Parts.Search}, {"scatter", t.Parts.Scatter},
	} {
		if part.seconds > 0 {
			busy = append(busy, fmt.Sprintf("%s %.2f s", part.name, part.seconds))
		}
	}
	if busy != nil {
		lines = append(lines, "busy, over all threads: "+strings.Join(busy, ", "))
	}
	return lines
}

// equationText writes a linear combination in the form total = a + 2·b − c + 3. If the columns were replaced by ranks,
// which have no units, the weights are in standard deviations.
func equationText(l ufs.LinearCombination) string {
	var b strings.Builder
	b.WriteString(screen.QuoteName(l.Name) + " =")
	first := true
	add := func(value stream.Number, name string) {
		sign := map[bool]string{true: " − ", false: " + "}[value < 0]
		if first {
			sign = map[bool]string{true: " −", false: " "}[value < 0]
		}
		first = false
		text := roundedNumber(max(value, -value))
		switch {
		case name != "" && text == "1":
			text = name
		case name != "":
			text += "·" + name
		}
		b.WriteString(sign + text)
	}
	ranks := slices.ContainsFunc(l.Terms, func(t ufs.Term) bool { return math.IsNaN(float64(t.Weight)) })
	for _, t := range l.Terms {
		if ranks {
			add(t.Standardized, screen.QuoteName(t.Name))
		} else {
			add(t.Weight, screen.QuoteName(t.Name))
		}
	}
	if ranks {
		b.WriteString(" (normal scores, in standard deviations)")
	} else if l.Constant != 0 || first {
		add(l.Constant, "")
	}
	return b.String()
}
