package method

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// From is what a method works from. It decides which passes over the input come before it.
type From int

// What methods work from.
const (
	FromProfile From = iota // mean, spread and range of each column: O(d)
	FromGram                // the Gram matrix: O(d²), or the rows again and again where that does not fit
	FromGraph               // the Gram matrix and the anchor graph: O(m·d + m²) more
	FromRows                // the rows, in every iteration
)

// Takes says what a method can be asked for.
type Takes struct {
	Keep     bool // features that are in from the start
	Variance bool // a share to explain, in place of a number of features
	// MinGain says that the method stops by itself where the next feature adds less than a share.
	MinGain bool
	// WhyNotVariance says why a method that keeps features takes no share; empty says nothing.
	WhyNotVariance stream.Text
	Weight         bool // rows that weigh differently
	Forbid         bool // features that are not to be chosen, where neither of the two below does it
	// Choice says that the method chooses among the candidates of Evidence.Choice itself. Of other
	// methods the scores of features are taken for those of groups.
	Choice bool
	// Turns says that only what is chosen has a score, at its turn: groups have none then.
	Turns bool
	// Reconstructs says that features are chosen to explain the data's sum of squares, so that
	// the share they explain tells whether the choice is better than chance. For a method that
	// chooses for something else, it would not.
	Reconstructs bool
	// Nested says that the first features of a selection are the selection of fewer, so
	// that one run has the whole curve of the error over their number.
	Nested bool
	// Iterates says that the method may stop before it converged.
	Iterates bool
	// Factor says that a Gram matrix may be a factor, which is cheap where features outnumber rows.
	Factor bool
	// Streams says of a FromGraph method that it may read the rows again in place of a Gram matrix that
	// does not fit.
	Streams bool
	// Sample says of a FromGram method that it looks at a seeded sample of rows too, which the same pass
	// draws: Evidence.Survey.
	Sample bool
	// Sketch says that the method selects from an estimate of the Gram matrix, by a sketch of the rows.
	Sketch bool
	// Diagonal says of a FromGraph method that of the Gram matrix it uses the diagonal alone, which an
	// estimate has exactly.
	Diagonal bool
	// NoCross says of a FromGraph method that it does not read C where the Gram matrix is a factor.
	NoCross bool
	// Cells says that features are the cells of a grid: all take part, constant ones too.
	Cells bool
	// Scales are those that make sense; nil means all. WhyScales says why not others.
	Scales    []gram.Scale
	WhyScales stream.Text
}

// Spec declares a method: plain data, and how to make one.
type Spec struct {
	Name  string
	About string // a line for people
	Guide Guide
	From  From
	Takes Takes
	Scale gram.Scale // where the request names none
	// PathAdvice says what to do in place of a path over settings, where the method has
	// none and no curve; empty says nothing.
	PathAdvice stream.Text
	New        func() Method
}

// Guide helps people choose: sentences without a dot, that name no options. What they say of choices was
// measured, see bench/results/quality.md.
type Guide struct {
	When    string // the question that the method answers
	Time    string // the order of its work once the statistics are there: n rows, d features, m anchors, k chosen
	Caution string // what its choice does not do well, and whether random features do as well
}

// Method is a method with its settings, which Options binds to their values. It is used
// for one run.
type Method interface {
	// Options declares the settings.
	Options(*Options)
	// Cost says what a run takes for input of the given shape.
	Cost(Shape) (Cost, error)
	// Select ranks the features of the evidence, whose matrices it may use up.
	Select(context.Context, *Evidence) (*Ranking, error)
}

// Varied is a method that solves every setting of a grid from one Evidence. Its options
// name the settings: some then take several values.
type Varied interface {
	// Settings is the number of settings of the grid, at most.
	Settings() int
	Path(context.Context, *Evidence) (*Grid, error)
}

// Unnested is a method that some of its settings keep from Takes.Nested: it says what to do in
// place of a curve over k, or nothing where its selections are nested.
type Unnested interface{ Unnested() stream.Text }

// ByPanels is a FromGraph method that reads the rows of a factor by panels, and not often, as long as some of its
// settings do not keep it from that: they may stay float32 then, which is half as much.
type ByPanels interface{ ByPanels() bool }

// Surveyor is a method that takes a sample of the rows (Takes.Sample), and says how to look at it.
type Surveyor interface{ SurveyOptions() SurveyOptions }

// SurveyOptions say how to make the diffusion kernel of a sample of rows.
type SurveyOptions struct {
	Diffusion float64 // steps
	Neighbors int     // nearest rows that a row has weights on
}

// Survey is what a sample of rows tells of d features.
type Survey struct {
	Shares   []float64 // d: xᵢᵀKxᵢ/xᵢᵀxᵢ for the diffusion kernel K of the sampled rows and scaled, centred columns xᵢ
	Norm     float64   // ‖K‖
	Floor    float64   // share of its own variance that a feature may keep to itself while others keep more; 0 for none
	Power    float64   // exponent of the norm that the alignment is divided by; 0 for the method's own
	Warnings []stream.Text
	// Where there is no Gram matrix, as for many sparse columns, the diagonal and the columns of that of the sampled rows.
	// A column is d numbers, until the next call.
	Squares []float64
	Column  func(j int) []float64
}

// Grouped is a method that works with a tree of groups over the features.
type Grouped interface {
	// Tree makes the tree that the method's options ask for from the columns of the
	// evidence, and, where NeedsGram, the Gram matrix of the centred columns, which it overwrites.
	Tree(*Evidence) (Tree, error)
	NeedsGram() bool
	// CheckTree refuses options that ask for no tree.
	CheckTree() error
}
