package stream

import "io"

// The JSON forms of a path: a curve over k, or a grid of weights.
const (
	CurveSchema = "ufs-stream/path-curve/v1"
	GridSchema  = "ufs-stream/path-grid/v1"
)

// Curve is the error that is left after 1, 2, … k features, all from one selection:
// the first features of a greedy selection are the selection of fewer.
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
	// Size says how many features to keep; nil where nothing tells.
	Size *Size `json:"size,omitempty"`
	// Transfer is what was fetched from object stores; nil where nothing was.
	Transfer *Transfer `json:"transfer,omitempty"`
}

// CurvePoint is the selection of the first K features, or of the first K groups where groups are chosen.
type CurvePoint struct {
	K    int    `json:"k"`
	Name string `json:"name"` // the last of them
	// Members are the features of the last, and Cost is what it costs, as in [Selected]; Total is what all K cost.
	Members   []string `json:"members,omitempty"`
	Cost      *Number  `json:"cost,omitempty"`
	Total     *Number  `json:"total_cost,omitempty"`
	Score     Number   `json:"score"`
	Error     Number   `json:"error"` // F(S)/F(∅)
	Explained Number   `json:"explained"`
	// Least is the least error that any K directions could leave; nil where it is not known.
	Least *Number `json:"least,omitempty"`
	// Layer is that of the feature, as in [Selected].
	Layer int `json:"layer,omitempty"`
}

// Features are the names of the features that the last of the K stands for.
func (p CurvePoint) Features() []string { return Selected{Name: p.Name, Members: p.Members}.Features() }

// Encode writes c as indented JSON, version 1.
func (c *Curve) Encode(w io.Writer) error {
	c.Schema, c.Inputs = CurveSchema, append([]Input{}, c.Inputs...)
	return encode(w, c)
}

// DecodeCurve reads what [Curve.Encode] wrote.
func DecodeCurve(r io.Reader) (*Curve, error) {
	c := new(Curve)
	return c, decode(r, c, &c.Schema, CurveSchema)
}

// Grid is every setting of two weights: α and γ, from one graph (SFUFS and FUFS), or α
// and β, from rows that are loaded once (EUFS and HUFS).
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
	// Members are the features of the groups among what is selected, by name; nil where features are chosen. K
	// counts groups then.
	Members     map[string][]string `json:"members,omitempty"`
	Recommended int                 `json:"recommended"` // index into settings; -1 for none
	Why         string              `json:"why"`
	Warnings    []string            `json:"warnings"`
	Timing      Timing              `json:"timing"`
	Memory      Memory              `json:"memory"`
	// Transfer is what was fetched from object stores; nil where nothing was.
	Transfer *Transfer `json:"transfer,omitempty"`
}

// GridSetting is one setting, and how far its neighbours in the grid agree with its first
// K features (mean Jaccard index).
type GridSetting struct {
	Alpha      Number   `json:"alpha"`           // null for fufs, which has none
	Beta       *Number  `json:"beta,omitempty"`  // of methods with a β in place of γ
	Gamma      Number   `json:"gamma"`           // null for those
	Flags      string   `json:"flags,omitempty"` // with which select makes this setting, where weights may be shares
	Objective  Number   `json:"objective"`
	Iterations int      `json:"iterations"`
	Converged  bool     `json:"converged"`
	Agreement  Number   `json:"agreement"`
	Selected   []string `json:"selected"`
	// Cost is what the selected cost together; nil where neither costs nor a budget were given.
	Cost     *Number  `json:"cost,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Second is the weight that is varied beside α: β where there is one, else γ.
func (s *GridSetting) Second() (letter string, value Number) {
	if s.Beta != nil {
		return "β", *s.Beta
	}
	return "γ", s.Gamma
}

// Encode writes g as indented JSON, version 1.
func (g *Grid) Encode(w io.Writer) error {
	g.Schema, g.Inputs = GridSchema, append([]Input{}, g.Inputs...)
	return encode(w, g)
}

// DecodeGrid reads what [Grid.Encode] wrote.
func DecodeGrid(r io.Reader) (*Grid, error) {
	g := new(Grid)
	return g, decode(r, g, &g.Schema, GridSchema)
}
