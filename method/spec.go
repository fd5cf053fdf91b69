package method

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// From is the evidence that a method uses. It determines which passes over the input are made before the method starts.
type From int

// The kinds of evidence, with the order of magnitude of their memory for d columns and m anchors.
const (
	FromProfile From = iota // mean, spread and range of each column: O(d)
	FromGram                // the Gram matrix: O(d²), or repeated passes over the rows if that does not fit
	FromGraph               // the Gram matrix and the anchor graph: O(m·d + m²) in addition to the Gram matrix
	FromRows                // the rows, in every iteration
)

// UsesGram reports whether the method selects from the Gram matrix of all features, or from a substitute for it.
func (f From) UsesGram() bool { return f == FromGram || f == FromGraph }

// UsesGramOnly reports whether the method selects from the Gram matrix without an anchor graph.
func (f From) UsesGramOnly() bool { return f == FromGram }

// UsesGraph reports whether the method selects from an anchor graph of the rows.
func (f From) UsesGraph() bool { return f == FromGraph }

// UsesRows reports whether the method iterates over the rows.
func (f From) UsesRows() bool { return f == FromRows }

// NeedsWholeRows reports whether a row is useful only if all its entries are known: the method measures distances
// between rows, or iterates over them.
func (f From) NeedsWholeRows() bool { return f.UsesGraph() || f.UsesRows() }

// Takes describes which requests a method supports.
type Takes struct {
	Keep     bool // features that are kept from the start
	Variance bool // a share of the variance to explain, given instead of a number of features
	// MinGain means that the method ends the selection when the next feature explains less than a given share of the data,
	// or of the target that takes their place.
	MinGain bool
	// WhyNotVariance explains why a method with Keep does not support Variance; may be empty.
	WhyNotVariance stream.Text
	Weight         bool // weighted rows
	Forbid         bool // features that must not be chosen; methods without Turns always support this
	Explain        bool // only some features are to be explained, by the others (Choice.Explain)
	// Choice means that the method itself chooses among the candidates of Evidence.Choice. For a method without Choice,
	// groups of features get the scores of their members.
	Choice bool
	// Turns means that a feature has a score only if it is chosen. Therefore groups of features have no scores.
	Turns bool
	// Reconstructs means that features are chosen to explain the data's sum of squares, so that the explained share
	// shows whether the choice is better than chance. With another criterion the share would not show this.
	Reconstructs bool
	// Nested means that the first j features of a selection are the selection of j features, so that one run gives the
	// error for every number of features.
	Nested bool
	// Iterates means that the method may stop before it converges.
	Iterates bool
	// Factor means that the Gram matrix may be given as RᵀR by a factor R, which is cheap if there are more features
	// than rows.
	Factor bool
	// Streams means that a FromGraph method can read the rows again if the Gram matrix does not fit into memory.
	Streams bool
	// Sample means that a FromGram method also uses a seeded sample of rows, drawn in the same pass (Evidence.Survey).
	Sample bool
	// Sketch means that the method can select from an estimate of the Gram matrix computed from a sketch of the rows.
	Sketch bool
	// Diagonal means that a FromGraph method uses only the diagonal of the Gram matrix. The diagonal is exact even if the
	// matrix is an estimate.
	Diagonal bool
	// NoCross means that a FromGraph method does not use the graph's m×d matrix C if the Gram matrix is a factor.
	NoCross bool
	// Cells means that the features are the cells of a grid. All of them are used, including constant features.
	Cells bool
	// Rereads means that a FromProfile method may read the rows once more (Evidence.Source).
	Rereads bool
	// RowScales are the scalings of rows that suit the method, the recommended one first; "" leaves rows as they are. Nil
	// means all scalings. WhyRowScales explains why others do not.
	RowScales    []string
	WhyRowScales stream.Text
	// Scales are the scales that suit the method; nil means all scales. WhyScales explains why other scales do not.
	Scales    []gram.Scale
	WhyScales stream.Text
}

// Spec declares a method: its description, and a function that makes it.
type Spec struct {
	Name  string
	About string // one line for people
	Guide Guide
	From  From
	Takes Takes
	Scale gram.Scale // the default scale
	Rows  int64      // number of rows that a FromRows method draws by default; 0 means DefaultSample
	// PathAdvice recommends an alternative to a path, i.e. to selections for several settings or numbers of features,
	// for a method that supports neither. It may be empty.
	PathAdvice stream.Text
	New        func() Method
}

// Guide helps people to choose a method. Its texts are sentences without a full stop that do not name options.
// Statements about the quality of choices were measured, see bench/results/quality.md.
type Guide struct {
	When    string // data or aims for which to use the method
	Time    string // order of the work after the statistics: n rows, d features, m anchors, k chosen
	Caution string // weaknesses of the method's choice, and whether random features are as good
}

// Method is a method with its settings, which Options binds to variables. A Method is used for one run only.
type Method interface {
	// Options declares the settings.
	Options(*Options)
	// Cost estimates the cost of a run for input of the given shape.
	Cost(Shape) (Cost, error)
	// Select ranks the features of the evidence. It may overwrite the matrices of the evidence.
	Select(context.Context, *Evidence) (*Ranking, error)
}

// Varied is a method that solves every setting of a grid from one Evidence. Some of its options accept several values.
type Varied interface {
	// Settings returns an upper bound of the number of settings of the grid.
	Settings() int
	Path(context.Context, *Evidence) (*Grid, error)
}

// Unnested is a method whose settings may contradict Takes.Nested. If they do, Unnested returns advice about an
// alternative to a curve over k. It returns an empty text if the selections are nested.
type Unnested interface{ Unnested() stream.Text }

// ByPanels is a FromGraph method that can use a factor of the Gram matrix in panels, i.e. a few columns at a time. If
// ByPanels returns true for the method's settings, the factor's rows stay float32, which needs half the memory.
type ByPanels interface{ ByPanels() bool }

// Surveyor is a method that uses a sample of the rows (Takes.Sample), and determines how the sample is evaluated.
type Surveyor interface{ SurveyOptions() SurveyOptions }

// SurveyOptions are the parameters of the diffusion kernel of a sample of rows.
type SurveyOptions struct {
	Diffusion float64 // number of diffusion steps
	Neighbors int     // number of nearest rows that are linked to a row
}

// Survey holds statistics of a sample of rows with d features.
type Survey struct {
	Shares   []float64 // for each of the d features: xᵢᵀKxᵢ/xᵢᵀxᵢ for the diffusion kernel K and the scaled, centred columns xᵢ of the sample
	Norm     float64   // Frobenius norm of K
	Floor    float64   // features with more than this unexplained share of variance are chosen first; 0 means no floor
	Power    float64   // exponent p of the denominator in package align's criterion N/Dᵖ; 0 means the default
	Warnings []stream.Text
	// If there is no Gram matrix, as for many sparse columns, Squares and Column give the diagonal and the columns of the
	// Gram matrix of the sampled rows. A column has d numbers and is valid until the next call of Column.
	Squares []float64
	Column  func(j int) []float64
}

// Grouped is a method that works with a tree of groups over the features.
type Grouped interface {
	// Tree makes the tree that the method's options describe from the columns of the evidence. If NeedsGram returns
	// true, it also uses the Gram matrix of the centred columns, which it overwrites.
	Tree(*Evidence) (Tree, error)
	NeedsGram() bool
	// CheckTree returns an error if the options do not describe a tree.
	CheckTree() error
}
