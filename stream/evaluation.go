package stream

import "io"

// EvaluationSchema names the version of the JSON form of [Evaluation].
const EvaluationSchema = "ufs-stream/eval/v1"

// Evaluation is the result of an evaluation: it compares selections by scores between 0 and 1. Some scores come from
// clustering the rows by k-means. The fields about k-means are set only if there is a label.
type Evaluation struct {
	Schema              string      `json:"schema"`
	Protocol            string      `json:"protocol,omitempty"`
	Runs                int         `json:"runs,omitempty"`
	Restarts            int         `json:"restarts,omitempty"` // number of k-means restarts in each run
	Starts              string      `json:"starts,omitempty"`   // first centres of k-means: plusplus or random
	Clusters            int         `json:"clusters,omitempty"`
	Clusterer           string      `json:"clusterer,omitempty"` // affinity for affinity propagation; absent for k-means
	Damping             float64     `json:"damping,omitempty"`   // of affinity propagation
	Folds               int         `json:"folds,omitempty"`     // number of folds in which rows are classified
	Label               string      `json:"label,omitempty"`
	Scale               string      `json:"scale"`                // scale of the data that k-means clusters
	RowsScale           string      `json:"rows_scale,omitempty"` // scaling of the rows, before anything else
	ReconstructionScale string      `json:"reconstruction_scale"` // scale of the data that the features reconstruct
	Spherical           bool        `json:"spherical"`
	Missing             string      `json:"missing"`
	Seed                uint64      `json:"seed"`
	Version             string      `json:"version"`
	Rows                int64       `json:"rows"`
	RowsUsed            int64       `json:"rows_used"`
	Unlabelled          int64       `json:"rows_without_label"`
	Sampled             bool        `json:"sampled"`
	Features            int         `json:"features"`
	Inputs              []Input     `json:"inputs"`
	Results             []Evaluated `json:"results"`
	Classes             []string    `json:"classes,omitempty"`
	ClassRows           []int64     `json:"class_rows,omitempty"` // number of rows of each class
	Warnings            []string    `json:"warnings"`
	Timing              Timing      `json:"timing"`
	Memory              Memory      `json:"memory"`
	// Transfer counts traffic with object stores; nil if there was none.
	Transfer *Transfer `json:"transfer,omitempty"`
}

// Evaluated holds the scores of a set of features, which is a baseline or the first K features of a selection. A score
// that was not requested or does not apply is absent. A score that could not be computed is null.
type Evaluated struct {
	Name    string  `json:"name"`
	Method  string  `json:"method"`
	Path    string  `json:"selection,omitempty"`
	K       int     `json:"k"`
	ACC     *Spread `json:"acc,omitempty"`
	NMISqrt *Spread `json:"nmi_sqrt,omitempty"`
	NMIMax  *Spread `json:"nmi_max,omitempty"`
	Purity  *Spread `json:"purity,omitempty"`
	ARI     *Spread `json:"ari,omitempty"`
	KNN     *Spread `json:"knn,omitempty"`
	Ridge   *Spread `json:"ridge,omitempty"`
	PBest   *Number `json:"p_nmi,omitempty"`     // p-value of Welch's test on nmi_sqrt: this set against the best set of the same k
	Best    *bool   `json:"best,omitempty"`      // this set is the best, or not significantly worse
	PAll    *Number `json:"p_nmi_all,omitempty"` // p-value of the same test: this set against all features
	// NMIRuns is nmi_sqrt of each run. Run i of every set of features has the same seed, so that tests may pair the runs.
	NMIRuns        []Number   `json:"nmi_sqrt_runs,omitempty"`
	Reconstruction Number     `json:"reconstruction_error"`
	Redundancy     Number     `json:"redundancy"`
	Stability      *Stability `json:"stability,omitempty"`
}

// Spread holds the mean and the standard deviation of a score over the runs or folds. The divisor of the variance is
// their number less 1.
type Spread struct {
	Mean Number `json:"mean"`
	Std  Number `json:"std"`
}

// Stability measures how similar the selections from resampled rows are.
type Stability struct {
	Resamples int    `json:"resamples"`
	Jaccard   Number `json:"jaccard"`
	Nogueira  Number `json:"nogueira"` // index of Nogueira, Sechidis and Brown, which is 0 for random selections
}

// ClusterScore is one of the scores of k-means clusterings, or of a classifier. Spread is nil if it was not computed.
type ClusterScore struct {
	Field, Title, About string // name in JSON, short title, and explanation
	*Spread
}

// ClusterScores lists all scores of the clusterings, whether they were computed or not.
func (e *Evaluated) ClusterScores() []ClusterScore {
	return []ClusterScore{
		{"acc", "ACC", "clustering accuracy under the best matching of clusters to classes", e.ACC},
		{"nmi_sqrt", "NMI sqrt", "normalised mutual information, over the root of the entropies' product", e.NMISqrt},
		{"nmi_max", "NMI max", "normalised mutual information, over the larger entropy", e.NMIMax},
		{"purity", "purity", "share of rows in the largest class of their cluster", e.Purity},
		{"ari", "ARI", "adjusted Rand index", e.ARI},
	}
}

// ClassifierScores lists the accuracies of classifiers in cross-validation, whether they were computed or not.
func (e *Evaluated) ClassifierScores() []ClusterScore {
	return []ClusterScore{
		{"knn", "kNN", "accuracy of the five nearest rows in cross-validation", e.KNN},
		{"ridge", "ridge", "accuracy of a linear ridge classifier in cross-validation", e.Ridge},
	}
}

// Encode writes e as indented JSON, version 1.
func (e *Evaluation) Encode(w io.Writer) error {
	e.Schema = EvaluationSchema
	return encodeJSON(w, e)
}

// DecodeEvaluation reads the output of [Evaluation.Encode].
func DecodeEvaluation(r io.Reader) (*Evaluation, error) {
	e := new(Evaluation)
	return e, decodeJSON(r, e, &e.Schema, EvaluationSchema)
}
