package report

import (
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/elbow"
	"github.com/ufs-stream/ufs-stream/stream"
)

// measureOf says what the errors of a selection are shares of. Errors of one measure compare.
func measureOf(s *stream.Selection) string {
	if of := target(s); of != "" {
		return of
	}
	if scale := word(s, "scale"); scale != "" {
		return "the sum of squares (scale " + scale + ")"
	}
	return "the sum of squares"
}

// measureBrief is the measure in two words.
func measureBrief(s *stream.Selection) string {
	scale := word(s, "scale")
	switch of := target(s); {
	case strings.HasPrefix(of, "the data smoothed"):
		return "smoothed data"
	case of != "":
		return "target " + word(s, "target")
	case scale != "":
		return "scale " + scale
	}
	return ""
}

// target is what a selection reconstructs that is not the data itself; empty for the data.
func target(s *stream.Selection) string {
	switch t := word(s, "target"); {
	case t == "" || t == "smooth" && word(s, "smooth") == "0":
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

// word is the value of an option; empty where the document has none.
func word(s *stream.Selection, option string) string {
	v, ok := s.Options[option]
	if !ok {
		return ""
	}
	return cut(fmt.Sprint(v), 40)
}

// explained is the share that all chosen features explain; NaN where it is not known.
func explained(s *stream.Selection) float64 { return 1 - float64(s.Selected[len(s.Selected)-1].Error) }

// size is how many features to keep: what the run recommends, else the elbow of its errors.
type size struct {
	k    int // 0 where nothing tells
	rule string
	why  string
}

// recommendedSize is how many features the run recommends to keep, or how many groups where it chose these.
func recommendedSize(s *stream.Selection) size {
	switch z := s.Size; {
	case z == nil:
	case !s.HasGroups():
		return size{z.Recommended, "recommended", z.Why}
	case z.Groups > 0:
		return size{z.Groups, "recommended", fmt.Sprintf("of single features it would be %s: %s", count(int64(z.Recommended)), z.Why)}
	}
	return size{}
}

func sizeOf(s *stream.Selection) size {
	if z := recommendedSize(s); z.k > 0 {
		return z
	}
	if c := errorsOf(s); c != nil {
		if e := elbow.Of(c.Series[0].X, c.Series[0].Y); e >= 0 {
			return size{int(c.Series[0].X[e]), "elbow", ""}
		}
	}
	return size{}
}
