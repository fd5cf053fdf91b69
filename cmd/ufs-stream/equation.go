package main

import (
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

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
