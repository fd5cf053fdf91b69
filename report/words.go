package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// number is for people: five digits, thousands grouped, "–" for no number.
func number(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "–"
	case math.Abs(x) < 1e15 && (x == math.Trunc(x) || math.Abs(x) >= 1e4):
		return minus(grouped(strconv.FormatFloat(x, 'f', 0, 64)))
	}
	return minus(strconv.FormatFloat(x, 'g', 5, 64))
}

// fixed has a fixed number of decimals.
func fixed(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return minus(strconv.FormatFloat(x, 'f', decimals, 64))
}

// share is a share of 1 in percent.
func share(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return fixed(100*x, 2) + " %"
}

// probability has three decimals, and none below them.
func probability(p float64) string {
	if p < 0.0005 {
		return "< 0.001"
	}
	return fixed(p, 3)
}

func count(n int64) string { return minus(grouped(strconv.FormatInt(n, 10))) }

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return count(int64(n)) + " " + what
}

// unit is what s has chosen: features, or groups of them.
func unit(s *stream.Selection) string {
	if s.HasGroups() {
		return "group"
	}
	return "feature"
}

// gridUnit is what the settings of g choose.
func gridUnit(g *stream.Grid) string {
	if g.Members != nil {
		return "group"
	}
	return "feature"
}

// chosenCount is how much of all features s has chosen.
func chosenCount(s *stream.Selection) string {
	of := fmt.Sprintf(" of %s features", count(int64(s.Features)))
	if !s.HasGroups() {
		return count(int64(len(s.Selected))) + of
	}
	return plural(len(s.Selected), "group") + ", " + count(int64(s.SelectedFeatures())) + of
}

func bytesOf(n int64) string {
	x, units := float64(n), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; x >= 1024 && i < len(units)-1; i++ {
		x /= 1024
	}
	if i == 0 {
		return count(n) + " bytes"
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " " + units[i]
}

func seconds(s float64) string {
	switch {
	case math.IsNaN(s) || s < 0 || s > 1e9:
		return "–"
	case s < 1:
		return strconv.FormatFloat(1000*s, 'f', 1, 64) + " ms"
	case s < 100:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

func rowsOf(rows, used int64) string {
	if rows == used {
		return count(rows)
	}
	return fmt.Sprintf("%s of %s", count(used), count(rows))
}
