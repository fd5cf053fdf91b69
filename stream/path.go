package stream

import (
	"io"
	"strconv"
	"strings"
)

// JSON schemas of the two forms of a path, i.e. of selections with different settings: a curve of the error over the
// number k of features, and a grid of selections with different weights.
const (
	CurveSchema = "ufs-stream/path-curve/v1"
	GridSchema  = "ufs-stream/path-grid/v1"
)

// Curve holds the error of reconstruction that remains after choosing 1, 2, … k features. All errors are from one
// selection, because the first j features of a greedy selection are the greedy selection of j features.
type Curve struct {
	Schema   string         `json:"schema"`
	Method   string         `json:"method"`
	Seed     uint64         `json:"seed"`
	Version  string         `json:"version"`
	Rows     int64          `json:"rows"`
	RowsUsed int64          `json:"rows_used"`
	Features int            `json:"features"`
	Options  map[string]any `json:"options"`
	Inputs   []Input        `json:"inputs"`
	Passes   int            `json:"passes"`
	Points   []CurvePoint   `json:"points"`
	Warnings []string       `json:"warnings"`
	Timing   Timing         `json:"timing"`
	Memory   Memory         `json:"memory"`
	// Size recommends how many features to keep; nil if it could not be computed.
	Size *Size `json:"size,omitempty"`
	// Transfer counts traffic with object stores; nil if there was none.
	Transfer *Transfer `json:"transfer,omitempty"`
}

// CurvePoint describes the selection of the first K features, or of the first K groups if groups are chosen.
type CurvePoint struct {
	K    int    `json:"k"`
	Name string `json:"name"` // name of the last feature or group
	// Members are the features of the last group, and Cost is the cost of the last feature or group, as in [Selected].
	// Total is the cost of all K features or groups.
	Members   []string `json:"members,omitempty"`
	Cost      *Number  `json:"cost,omitempty"`
	Total     *Number  `json:"total_cost,omitempty"`
	Score     Number   `json:"score"`
	Error     Number   `json:"error"` // F(S)/F(∅), the error as a share of the error without features
	Explained Number   `json:"explained"`
	// Least is the lowest error possible with any subspace of the same dimension, see [Selected]; nil if unknown.
	Least *Number `json:"least,omitempty"`
	// Layer is the layer of the last feature, as in [Selected].
	Layer int `json:"layer,omitempty"`
}

// Features returns the name of the last feature, or the names of the features of the last group.
func (p CurvePoint) Features() []string { return Selected{Name: p.Name, Members: p.Members}.Features() }

// Encode writes c as indented JSON, version 1.
func (c *Curve) Encode(w io.Writer) error {
	c.Schema, c.Inputs = CurveSchema, append([]Input{}, c.Inputs...)
	return encodeJSON(w, c)
}

// DecodeCurve reads the output of [Curve.Encode].
func DecodeCurve(r io.Reader) (*Curve, error) {
	c := new(Curve)
	return c, decodeJSON(r, c, &c.Schema, CurveSchema)
}

// Grid holds one selection for every pair of values of two weights of the method's objective. For SFUFS and FUFS, the
// weights are α and γ, and all selections use one graph. For EUFS and HUFS, they are α and β, and the rows are loaded
// once.
type Grid struct {
	Schema   string         `json:"schema"`
	Method   string         `json:"method"`
	Seed     uint64         `json:"seed"`
	Version  string         `json:"version"`
	Rows     int64          `json:"rows"`
	RowsUsed int64          `json:"rows_used"`
	Features int            `json:"features"`
	K        int            `json:"k"`
	Options  map[string]any `json:"options"`
	Inputs   []Input        `json:"inputs"`
	Passes   int            `json:"passes"`
	Settings []GridSetting  `json:"settings"`
	// Members lists the features of each selected group by the group's name, and K counts groups. It is nil if single
	// features are chosen.
	Members     map[string][]string `json:"members,omitempty"`
	Recommended int                 `json:"recommended"` // index into settings; -1 if no setting is recommended
	Why         string              `json:"why"`
	Warnings    []string            `json:"warnings"`
	Timing      Timing              `json:"timing"`
	Memory      Memory              `json:"memory"`
	// Transfer counts traffic with object stores; nil if there was none.
	Transfer *Transfer `json:"transfer,omitempty"`
}

// GridSetting is one pair of weights and its selection. Agreement is the mean Jaccard index between its first K
// features and the first K features of each of its neighbours in the grid.
type GridSetting struct {
	Alpha      Number   `json:"alpha"`           // null for fufs, which does not have an α
	Beta       *Number  `json:"beta,omitempty"`  // set for methods that have a β instead of a γ
	Gamma      Number   `json:"gamma"`           // null for methods with a β
	Flags      string   `json:"flags,omitempty"` // select's options for this setting; set if weights may be shares
	Objective  Number   `json:"objective"`
	Iterations int      `json:"iterations"`
	Converged  bool     `json:"converged"`
	Agreement  Number   `json:"agreement"`
	Selected   []string `json:"selected"`
	// Cost is the total cost of the selected features; nil if neither costs nor a budget were given.
	Cost     *Number  `json:"cost,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// DecidedByTies is set if all selected features and others have equal scores, so that the order of the columns alone
	// decided which were selected.
	DecidedByTies bool `json:"decided_by_ties,omitempty"`
}

// WeightTexts returns the options that select takes for the weights of the setting, with their values as texts. If weights
// may be shares, Flags has them.
func (s *GridSetting) WeightTexts() (weights [][2]string) {
	if words := strings.Fields(s.Flags); len(words) == 4 {
		return [][2]string{{strings.TrimLeft(words[0], "-"), words[1]}, {strings.TrimLeft(words[2], "-"), words[3]}}
	}
	add := func(option string, weight Number) {
		if x := float64(weight); x-x == 0 {
			weights = append(weights, [2]string{option, strconv.FormatFloat(x, 'g', -1, 64)})
		}
	}
	add("alpha", s.Alpha)
	if s.Beta != nil {
		add("beta", *s.Beta)
	}
	add("gamma", s.Gamma)
	return weights
}

// Second returns the weight that varies together with α: β if the method has a β, otherwise γ.
func (s *GridSetting) Second() (letter string, value Number) {
	if s.Beta != nil {
		return "β", *s.Beta
	}
	return "γ", s.Gamma
}

// Encode writes g as indented JSON, version 1.
func (g *Grid) Encode(w io.Writer) error {
	g.Schema, g.Inputs = GridSchema, append([]Input{}, g.Inputs...)
	return encodeJSON(w, g)
}

// DecodeGrid reads the output of [Grid.Encode].
func DecodeGrid(r io.Reader) (*Grid, error) {
	g := new(Grid)
	return g, decodeJSON(r, g, &g.Schema, GridSchema)
}
