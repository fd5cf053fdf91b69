package method

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// From is the evidence that a method works from. It determines which passes over the input precede it.
type From int

// The kinds of evidence.
const (
	FromProfile From = iota // mean, spread and range of each column: O(d)
	FromGram                // the Gram matrix: O(d²), or repeated passes over the rows if that does not fit
	FromGraph               // the Gram matrix and the anchor graph: O(m·d + m²) more
	FromRows                // the rows, in every iteration
)

// Takes lists the requests that a method supports.
type Takes struct {
	Keep     bool // features that are kept from the start
	Variance bool // a share to explain, instead of a number of features
	// MinGain means that the method stops by itself when the next feature adds less than a share.
	MinGain bool
	// WhyNotVariance explains why a method that keeps features takes no share; may be empty.
	WhyNotVariance stream.Text
	Weight         bool // weighted rows
	Forbid         bool // features that must not be chosen, for a method with Turns; the others always allow them
	// Choice means that the method itself chooses among the candidates of Evidence.Choice. For other methods groups get
	// the scores of their features.
	Choice bool
	// Turns means that only chosen features have a score, at their turn: then groups have none.
	Turns bool
	// Reconstructs means that features are chosen to explain the data's sum of squares, so that the explained share
	// shows whether the choice is better than chance. For a method with another criterion it would not.
	Reconstructs bool
	// Nested means that the first features of a selection are the selection of fewer, so that one run gives the whole
	// curve of the error over their number.
	Nested bool
	// Iterates means that the method may stop before it converges.
	Iterates bool
	// Factor means that the Gram matrix may be a factor, which is cheap if features outnumber rows.
	Factor bool
	// Streams means that a FromGraph method can read the rows again if a Gram matrix does not fit.
	Streams bool
	// Sample means that a FromGram method also uses a seeded sample of rows, drawn in the same pass: Evidence.Survey.
	Sample bool
	// Sketch means that the method can select from an estimate of the Gram matrix, by a sketch of the rows.
	Sketch bool
	// Diagonal means that a FromGraph method uses only the diagonal of the Gram matrix, which an estimate has exactly.
	Diagonal bool
	// NoCross means that a FromGraph method does not read C if the Gram matrix is a factor.
	NoCross bool
	// Cells means that features are the cells of a grid: all take part, including constant ones.
	Cells bool
	// Scales are the sensible scales; nil means all. WhyScales explains why others are not.
	Scales    []gram.Scale
	WhyScales stream.Text
}

// Spec declares a method: plain data, and a constructor.
type Spec struct {
	Name  string
	About string // a line for people
	Guide Guide
	From  From
	Takes Takes
	Scale gram.Scale // the default scale
	// PathAdvice recommends an alternative to a path over settings, if the method has neither a path nor a curve; may
	// be empty.
	PathAdvice stream.Text
	New        func() Method
}

// Guide helps people choose: sentences without a full stop that name no options. Statements about the quality of
// choices were measured, see bench/results/quality.md.
type Guide struct {
	When    string // order of the work after the statistics: n rows, d features, m anchors, k chosen
	Time    string // the order of its work once the statistics are there: n rows, d features, m anchors, k chosen
	Caution string // weaknesses of its choice, and whether random features are as good
}

// Method is a method with its settings, which Options binds to their values. It is used for one run.
type Method interface {
	// Options declares the settings.
	Options(*Options)
	// Cost estimates the cost of a run for input of the given shape.
	Cost(Shape) (Cost, error)
	// Select ranks the features of the evidence, whose matrices it may overwrite.
	Select(context.Context, *Evidence) (*Ranking, error)
}

// Varied is a method that solves every setting of a grid from one Evidence. Some of its options then take several
// values.
type Varied interface {
	// Settings returns the number of settings of the grid, at most.
	Settings() int
	Path(context.Context, *Evidence) (*Grid, error)
}

// Unnested is a method whose settings may contradict Takes.Nested: it then recommends an alternative to a curve over k;
// empty if its selections are nested.
type Unnested interface{ Unnested() stream.Text }

// ByPanels is a FromGraph method that, with suitable settings, reads the rows of a factor by panels, and rarely: then
// they may stay float32, half the memory.
type ByPanels interface{ ByPanels() bool }

// Surveyor is a method that takes a sample of the rows (Takes.Sample), and sets how it is evaluated.
type Surveyor interface{ SurveyOptions() SurveyOptions }

// SurveyOptions are the parameters of the diffusion kernel of a sample of rows.
type SurveyOptions struct {
	Diffusion float64 // steps
	Neighbors int     // nearest rows that a row has weights on
}

// Survey holds statistics of a sample of rows with d features.
type Survey struct {
	Shares   []float64 // d: xᵢᵀKxᵢ/xᵢᵀxᵢ for the diffusion kernel K of the sampled rows and scaled, centred columns xᵢ
	Norm     float64   // ‖K‖
	Floor    float64   // share of its own variance that a feature may leave unexplained while others leave more; 0 for none
	Power    float64   // exponent of the norm that the alignment is divided by; 0 for the method's own
	Warnings []stream.Text
	// Without a Gram matrix, as for many sparse columns: diagonal and columns of the Gram matrix of the sampled rows. A
	// column is d numbers, valid until the next call.
	Squares []float64
	Column  func(j int) []float64
}

// Grouped is a method that works with a tree of groups over the features.
type Grouped interface {
	// Tree makes the tree that the method's options describe from the columns of the evidence, and, if NeedsGram, the
	// Gram matrix of the centred columns, which it overwrites.
	Tree(*Evidence) (Tree, error)
	NeedsGram() bool
	// CheckTree returns an error if the options do not describe a tree.
	CheckTree() error
}
