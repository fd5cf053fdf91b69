package settled

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// requestWith sets one option to the first text that changes the request.
func requestWith(t *testing.T, option string) (q request.Request, text string) {
	texts := []string{"7", "true", "0.5"}
	switch option {
	case "missing":
		texts = []string{request.MissingMean}
	case request.OptionRowScale:
		texts = []string{request.RowScaleUnit}
	case request.OptionFrequencies:
		texts = []string{`{"rows": 3, "features": {"a": 2}}`}
	case request.OptionCategories:
		texts = []string{`{"a":["x"]}`}
	}
	for _, text = range texts {
		known, err := request.SetOption(&q, option, text)
		if !known {
			t.Fatalf("records do not know option %s", option)
		}
		if err == nil && request.ListOptions(&q, ^request.Role(0))[option] != "" {
			return q, text
		}
		q = request.Request{}
	}
	t.Fatalf("option %s has none of the texts", option)
	return q, ""
}

// TestReadingKnowsEveryOption: an option that shapes statistics changes how the input is read, or it is an exception.
func TestReadingKnowsEveryOption(t *testing.T) {
	afterReading := []string{"scale", request.OptionSketch, request.OptionStability} // what is made of the rows
	describe := func(q request.Request) string {
		opt := (&Run{Request: q}).ReadOptions()
		opt.TakingIn = nil
		return fmt.Sprintf("%+v", opt)
	}
	for _, option := range request.OptionNames(request.ShapesStatistics) {
		q, text := requestWith(t, option)
		if same := describe(q) == describe(request.Request{}); same != slices.Contains(afterReading, option) {
			t.Errorf("%s %s: the input is read as without it %t, want %t", option, text, same, !same)
		}
	}
}

// TestSelectingAgainKnowsEveryOption: a request made from a selection has every option that shaped it, but for those
// that the selection itself answers.
func TestSelectingAgainKnowsEveryOption(t *testing.T) {
	answered := []string{"variance", "min-gain", request.OptionStability, "passes"}
	for _, option := range request.OptionNames(request.ShapesAnswer | request.MakesFeatures) {
		q, text := requestWith(t, option)
		s := &stream.Selection{Method: methods.Fallback, Options: method.Settings{option: text}, Selected: []stream.Selected{{Rank: 1, Name: "a"}}}
		if slices.Contains([]string{"groups", "costs"}, option) {
			continue // records hold their contents
		}
		again, err := RecordedRequest(s, nil)
		got, want := request.ListOptions(&again, ^request.Role(0))[option], request.ListOptions(&q, ^request.Role(0))[option]
		if err != nil || (got == want) == slices.Contains(answered, option) {
			t.Errorf("%s %s: selecting again has %q, error %v; want %q", option, text, got, err, want)
		}
	}
}
