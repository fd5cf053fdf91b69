package report

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/stream"
)

// chosenView are the names of the chosen features, as many as the page has.
type chosenView struct {
	First, Rest []string
	Button      string
}

// firstChosen names are shown before the rest is unfolded.
const firstChosen = 60

func chosenOf(s *stream.Selection) *chosenView {
	v := &chosenView{Button: "Copy " + plural(len(s.Selected), "name")}
	if len(s.Selected) > mostRows {
		v.Button = fmt.Sprintf("Copy the first %s names", count(mostRows))
	}
	for i, f := range s.Selected[:min(len(s.Selected), mostRows)] {
		if i < firstChosen {
			v.First = append(v.First, f.Name)
		} else {
			v.Rest = append(v.Rest, f.Name)
		}
	}
	return v
}

// tagName bounds the runes of a name in the list of the chosen.
const tagName = 40

// tag is a name in the list of the chosen.
func tag(name string) string { return cut(name, tagName) }
