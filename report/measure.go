package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/numeric/elbow"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// errorMeasure names the quantity of which a selection's errors are shares. Only shares of one quantity are comparable.
func errorMeasure(s *stream.Selection) string {
	if of := reconstructionTarget(s); of != "" {
		return of
	}
	of := "the sum of squares"
	if s.Worth != nil && math.Abs(float64(s.Worth.Explained)-explainedShare(s)) < 1e-9 {
		of = "the variance"
	}
	if scale := recordedOption(s, "scale"); scale != "" {
		of += " (scale " + scale + ")"
	}
	return of
}

func briefErrorMeasure(s *stream.Selection) string {
	scale := recordedOption(s, "scale")
	switch of := reconstructionTarget(s); {
	case recordedOption(s, "explain-columns") != "":
		return "explained columns"
	case strings.HasPrefix(of, "the data smoothed"):
		return "smoothed data"
	case of != "":
		return "target " + recordedOption(s, "target")
	case scale != "":
		return "scale " + scale
	}
	return ""
}

// reconstructionTarget names the quantity that a selection reconstructs. It is empty if that is the data itself.
func reconstructionTarget(s *stream.Selection) string {
	switch t := recordedOption(s, "target"); {
	case recordedOption(s, "explain-columns") != "":
		return "the columns " + recordedOption(s, "explain-columns")
	case t == "" || t == "smooth" && recordedOption(s, "smooth") == "0":
		return ""
	case t == "smooth":
		return "the data smoothed on the graph of the rows"
	case t == "spectral":
		return "the spectral embedding of the graph of the rows"
	case t == "scatter":
		return "the smoothest directions of the graph of the rows"
	default:
		return "the target " + t
	}
}

func recordedOption(s *stream.Selection, option string) string {
	v, ok := s.Options[option]
	if !ok {
		return ""
	}
	return drawing.TruncateText(fmt.Sprint(v), 40)
}

func explainedShare(s *stream.Selection) float64 {
	return 1 - float64(s.Selected[len(s.Selected)-1].Error)
}

// sizeAdvice is a recommended number of features: the run's own recommendation, or else the elbow of its errors.
type sizeAdvice struct {
	k      int // 0 if unknown
	source string
	why    string
}

func recommendedSize(s *stream.Selection) sizeAdvice {
	switch z := s.Size; {
	case z == nil:
	case !s.HasGroups():
		return sizeAdvice{z.Recommended, "recommended", z.Why}
	case z.Groups > 0:
		return sizeAdvice{z.Groups, "recommended", fmt.Sprintf("of single features it would be %s: %s", countText(int64(z.Recommended)), z.Why)}
	}
	return sizeAdvice{}
}

func recommendedSizeOrElbow(s *stream.Selection) sizeAdvice {
	if z := recommendedSize(s); z.k > 0 {
		return z
	}
	if x, y := errorsByCount(s); x != nil {
		if e := elbow.FindElbow(x, y); e >= 0 {
			return sizeAdvice{int(x[e]), "elbow", ""}
		}
	}
	return sizeAdvice{}
}
