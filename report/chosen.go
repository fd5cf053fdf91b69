package report

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// chosenView lists the names of at most maxRows chosen features.
type chosenView struct {
	First, Rest []string // names shown at first, and names shown after unfolding
	Button      string   // caption of the button that copies the names
}

// maxChosenShown bounds the names shown before the list is unfolded.
const maxChosenShown = 60

func newChosenView(s *stream.Selection) *chosenView {
	v := &chosenView{Button: "Copy " + countNoun(len(s.Selected), "name")}
	if len(s.Selected) > maxRows {
		v.Button = fmt.Sprintf("Copy the first %s names", countText(maxRows))
	}
	for i, f := range s.Selected[:min(len(s.Selected), maxRows)] {
		if i < maxChosenShown {
			v.First = append(v.First, f.Name)
		} else {
			v.Rest = append(v.Rest, f.Name)
		}
	}
	return v
}

// maxTagRunes bounds the number of runes of a name in the list of chosen features.
const maxTagRunes = 40

func truncateTag(name string) string { return drawing.TruncateText(name, maxTagRunes) }
