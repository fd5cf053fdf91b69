package choice

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/groups"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestBlockColumns: columns that one of the input was made into are chosen as that one, alone or in a group,
// which names the columns to read.
func TestBlockColumns(t *testing.T) {
	cols := []stream.Column{
		{Name: "color=red", Block: "color"}, {Name: "x"}, {Name: "color=blue", Block: "color"}, {Name: "size=1", Block: "size"}, {Name: "y"},
	}
	r := &settled.Run{Request: request.Request{}, Grouping: new(groups.Grouping), Pricing: new(groups.Pricing), Bound: new(method.Bound)}
	c := must.Get(NewCandidates(r, cols, nil, true))(t)
	if !slices.Equal(c.Names(), []string{"color", "x", "size", "y"}) || !slices.Equal(c.Blocks[0].Members, []int{0, 2}) {
		t.Errorf("candidates %v, %v", c.Names(), c.Blocks)
	}
	if reads := [][]string{c.InputNames(0), c.InputNames(1), c.InputNames(2), c.InputNames(3)}; !reflect.DeepEqual(reads, [][]string{{"color"}, nil, {"size"}, nil}) {
		t.Errorf("reads %v", reads)
	}
	r.Grouping = &groups.Grouping{GroupByColumn: map[string]string{"color": "looks", "y": "looks"}, ColumnOrder: []string{"color", "y"}}
	r.Choice.Groups, r.Choice.Keep = "g.csv", []string{"color=blue"}
	r.Pricing = &groups.Pricing{Costs: map[string]float64{"color": 3}}
	c = must.Get(NewCandidates(r, cols, nil, true))(t)
	if !slices.Equal(c.Names(), []string{"looks", "x", "size"}) || !slices.Equal(c.Blocks[0].Members, []int{0, 2, 4}) || c.Blocks[0].Cost != 4 {
		t.Errorf("candidates %v, %v", c.Names(), c.Blocks)
	}
	if !slices.Equal(c.InputNames(0), []string{"color", "y"}) || !slices.Equal(c.Keep, []int{0}) {
		t.Errorf("reads %v, keep %v", c.InputNames(0), c.Keep)
	}
	// The number of a time alone is called like its column, and is no feature by itself all the same.
	alone := &settled.Run{Grouping: new(groups.Grouping), Pricing: new(groups.Pricing), Bound: new(method.Bound)}
	alone.Bound.Takes.Turns, alone.Bound.Name = true, "other"
	if _, err := NewCandidates(alone, []stream.Column{{Name: "x"}, {Name: "t", Block: "t"}}, nil, true); !errors.As(err, new(*stream.UsageError)) || !strings.HasPrefix(err.Error(), "t stands for") {
		t.Errorf("a column that is its own block: %v", err)
	}
	r.Bound.Takes.Turns, r.Bound.Name = true, "other"
	if _, err := NewCandidates(r, cols, nil, true); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "looks") {
		t.Errorf("for a method without scores: %v", err)
	}
}
