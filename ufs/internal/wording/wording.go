package wording

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MaxSuspectsInWarning bounds the suspicious columns that the warning about one kind names. The selection lists all.
const MaxSuspectsInWarning = 4

func ItOrThem(isOne bool) string {
	if isOne {
		return "it"
	}
	return "them"
}

func ColumnNames(cols []stream.Column) []string {
	return convert.Each(cols, func(c stream.Column) string { return c.Name })
}

func InputPaths(inputs []stream.Input) []string {
	return convert.Each(inputs, func(in stream.Input) string { return in.Path })
}

func SpellAll(texts []stream.Text, spelling stream.Spelling) []string {
	return convert.Each(texts, func(t stream.Text) string { return t.Spell(spelling) })
}

func CountNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func WithCommas(n int64) string { return humanize.Comma(n) }

func ListFirstNames(names []string, most int) string {
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names[:min(len(names), most)], ", ") + more
}

const MaxNamesInError = 5

func IsOrAre(shards []stream.ShardRange) string {
	if len(shards) == 1 && shards[0].From == shards[0].To {
		return "is"
	}
	return "are"
}

// FormatPercent returns a share in percent, with one decimal, for messages.
func FormatPercent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }
