package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/ufs/internal/relating"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// The versions of the JSON forms of Explanation and Redundant.
const (
	ExplainSchema    = result.ExplainSchema
	RedundancySchema = result.RedundancySchema
)

// The values of ExplainedColumn.State.
const (
	StateKept    = result.StateKept
	StateDropped = result.StateDropped
	StateLeftOut = result.StateLeftOut
	StateUnknown = result.StateUnknown
)

// The values of MatrixRequest.Of.
const (
	MatrixCorrelation = relating.MatrixCorrelation
	MatrixCovariance  = relating.MatrixCovariance
	MatrixSpearman    = relating.MatrixSpearman
)

// The defaults of RedundancyRequest.
const (
	DefaultThreshold  = relating.DefaultThreshold
	DefaultProportion = relating.DefaultProportion
)

type (
	// Term is a column with its weight in a linear combination.
	Term = result.Term
	// LinearCombination is a column that a linear combination of other columns equals, as far as float64 can show.
	LinearCombination = result.LinearCombination
	// Copy is a column that equals another column times a weight, plus a constant.
	Copy = result.Copy
	// ExplainRequest names columns of a selection to explain.
	ExplainRequest = relating.ExplainRequest
	// Explanation explains for some columns why the selection kept them or did not, and describes their relations to
	// other columns.
	Explanation = result.Explanation
	// ExplainedData describes the data from which correlations were computed.
	ExplainedData = result.ExplainedData
	// ExplainedColumn describes one column.
	ExplainedColumn = result.ExplainedColumn
	// StandsFor is a dropped feature whose nearest chosen feature is the explained column.
	StandsFor = result.StandsFor
	// Relations describes the relations of a column to other columns.
	Relations = result.Relations
	// NearColumn is a feature and its correlation with the explained column.
	NearColumn = result.NearColumn
	// RedundancyRequest names the data whose columns are compared (Inputs or Stats, as in Select) and the thresholds.
	RedundancyRequest = relating.RedundancyRequest
	// Redundant lists columns that are alike.
	Redundant = result.Redundant
	// AlikeCluster is a cluster of columns that their first principal component explains.
	AlikeCluster = result.AlikeCluster
	// AlikeColumn is a column of a cluster.
	AlikeColumn = result.AlikeColumn
	// AlikeDrop is a dropped column; the kept column For replaces it.
	AlikeDrop = result.AlikeDrop
	// Duplicates lists the copies of a column.
	Duplicates = result.Duplicates
	// MatrixRequest names the data whose pairs of columns are written, and the form of the output.
	MatrixRequest = relating.MatrixRequest
	// PairMatrix describes a file with a number for each pair of columns.
	PairMatrix = result.PairMatrix
	// FeatureTree is a tree of groups over features.
	FeatureTree = relating.FeatureTree
)

// Explain explains columns of a selection from the selection alone. With Inputs or Stats it also uses the correlations
// of all features, which cost as much as in Redundancy. It returns the same kinds of errors as Select.
func Explain(ctx context.Context, o ExplainRequest) (*Explanation, error) {
	return relating.ExplainSelection(ctx, o)
}

// Redundancy finds columns of the input, or of its statistics, that are alike: see package alike for the mathematics.
// For d columns it needs 8·d² bytes of memory for the correlations of all pairs, and as much again for computing. It
// returns the same kinds of errors as Select.
func Redundancy(ctx context.Context, o RedundancyRequest) (*Redundant, error) {
	return relating.FindRedundancy(ctx, o)
}

// MatrixKinds lists the values of MatrixRequest.Of, the default first.
func MatrixKinds() []string { return relating.MatrixKinds() }

// MatrixFormats lists the values of MatrixRequest.Format, the default first.
func MatrixFormats() []string { return relating.MatrixFormats() }

// Matrix writes the correlations or covariances of all pairs of columns of the input, or of its statistics, or a list of
// the strongest pairs. It makes one pass if 8·d² bytes fit for d columns. Otherwise it makes a profile, and then a pass
// for each part of the matrix that fits, which a list of pairs needs only once. It returns the same kinds of errors as
// Select.
func Matrix(ctx context.Context, o MatrixRequest) (*PairMatrix, error) {
	return relating.WriteMatrix(ctx, o)
}

// Tree makes a tree of groups over the features of the input. Option "tree" in Choice.Options describes the tree. The
// method is Choice.Method or, if that is empty, the first method with such an option. For a tree by the names of
// features, Tree reads only footers; for a tree by their correlations it makes a pass.
func Tree(ctx context.Context, q Request) (*FeatureTree, error) {
	return relating.BuildTree(ctx, q)
}
