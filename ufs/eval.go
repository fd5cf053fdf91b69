package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/evaluating"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// RandomBaseline is the name of the baseline that draws new random features in every run.
const RandomBaseline = request.RandomBaseline

type (
	// EvalRequest names selections to judge, and the rows and the protocol by which to judge them.
	EvalRequest = evaluating.EvalRequest
	// NamedSelection is a selection to judge.
	NamedSelection = evaluating.NamedSelection
)

// Eval judges selections, and compares them with baselines: all features, random features, and the features of largest
// variance. It clusters the rows by k-means on the selected features only, and compares the clusters with the classes
// of the label. It also reports the share that a selection leaves unexplained (reconstruction error), the similarity of
// its features (redundancy), and the agreement of selections from different samples of the rows (stability). On request
// it reports the accuracy of classifiers on the features.
func Eval(ctx context.Context, o EvalRequest) (*stream.Evaluation, error) {
	return evaluating.JudgeSelections(ctx, o)
}

// ReadNamedSelections reads the files at the paths of the given selections, for [Eval]. A file is a selection, a path,
// or any list of feature names, the best first: text with a name on each line, CSV, a JSON array of names, or a JSON
// object with the array "selected" of names or of objects with a name. A path of several settings gives a selection for
// each of them, named as NAME:alpha=0.1,gamma=1. A list has no method and no options. opt.Memory is the memory limit of
// the process. Errors about the content of a file are of type *[stream.DataError].
func ReadNamedSelections(ctx context.Context, files []NamedSelection, opt chunkio.FetchOptions) ([]NamedSelection, error) {
	return evaluating.ReadNamedSelections(ctx, files, opt)
}

// EvalProtocols lists the values of EvalRequest.Protocol, the default first.
func EvalProtocols() []string {
	return evaluating.EvalProtocols()
}

// EvalClassifiers lists the names that EvalRequest.Classify allows.
func EvalClassifiers() []string {
	return evaluating.EvalClassifiers()
}

// EvalClusterers lists the values of EvalRequest.Clusterer, the default first.
func EvalClusterers() []string {
	return evaluating.EvalClusterers()
}

// EvalStarts lists the values of EvalRequest.Starts, the default first.
func EvalStarts() []string {
	return evaluating.EvalStarts()
}

// EvalBaselines lists the names that EvalRequest.Baselines allows, without the name "none".
func EvalBaselines() []string {
	return evaluating.EvalBaselines()
}
