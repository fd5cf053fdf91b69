package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// numberText writes x with five digits and thousands separators, or "–" if x is NaN or infinite.
func numberText(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "–"
	case math.Abs(x) < 1e15 && (x == math.Trunc(x) || math.Abs(x) >= 1e4):
		return drawing.WithMinusSign(drawing.WithThousandsCommas(strconv.FormatFloat(x, 'f', 0, 64)))
	}
	return drawing.WithMinusSign(strconv.FormatFloat(x, 'g', 5, 64))
}

func fixedText(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return drawing.WithMinusSign(strconv.FormatFloat(x, 'f', decimals, 64))
}

func percentText(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return fixedText(100*x, 2) + " %"
}

func pValueText(p float64) string {
	if p < 0.0005 {
		return "< 0.001"
	}
	return fixedText(p, 3)
}

func countText(n int64) string {
	return drawing.WithMinusSign(drawing.WithThousandsCommas(strconv.FormatInt(n, 10)))
}

func countNoun(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return countText(int64(n)) + " " + what
}

func groupOrFeature(s *stream.Selection) string {
	if s.HasGroups() {
		return "group"
	}
	return "feature"
}

func groupOrFeatureOfGrid(g *stream.Grid) string {
	if g.Members != nil {
		return "group"
	}
	return "feature"
}

func chosenCountText(s *stream.Selection) string {
	ofAll := fmt.Sprintf(" of %s features", countText(int64(s.Features)))
	if !s.HasGroups() {
		return countText(int64(len(s.Selected))) + ofAll
	}
	return countNoun(len(s.Selected), "group") + ", " + countText(int64(s.SelectedFeatures())) + ofAll
}

func bytesText(n int64) string {
	x, units := float64(n), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; x >= 1024 && i < len(units)-1; i++ {
		x /= 1024
	}
	if i == 0 {
		return countText(n) + " bytes"
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " " + units[i]
}

func durationText(s float64) string {
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

func usedRowsText(rows, used int64) string {
	if rows == used {
		return countText(rows)
	}
	return fmt.Sprintf("%s of %s", countText(used), countText(rows))
}
