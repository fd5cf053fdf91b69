package stream

// Trust compares a choice of features with chance, without labels.
type Trust struct {
	// Choice compares the share of the variance that the chosen features explain with the share that as many
	// random features explain.
	Choice *Chance `json:"choice,omitempty"`
	// Dependence compares the correlation among the columns of a sample of rows with that of independent columns.
	Dependence *Chance `json:"dependence,omitempty"`
	// Clusters compares the graph of a sample of rows with the graph of random rows of equal covariance without clusters.
	Clusters *Chance `json:"clusters,omitempty"`
	// Graph compares the method's criterion on the graph of the rows with its value on a copy of the data whose columns
	// are permuted separately, so that they have no common structure.
	Graph *Chance `json:"graph,omitempty"`
}

// Chance compares a measure of a choice with its values by chance.
type Chance struct {
	Measure string `json:"measure"` // a description of the measure
	Value   Number `json:"value"`   // larger is better
	Chance  Number `json:"chance"`  // mean of the values obtained by chance
	Spread  Number `json:"spread"`  // standard deviation of the values obtained by chance; 0 for a single draw
	// Beats is the share of the random choices with a lower value. If there are few possible choices, all of them are
	// compared. Nil if the values were not obtained from random choices.
	Beats *Number `json:"beats,omitempty"`
	// Permuted is the method's value on unrelated, permuted columns; nil if Chance is this value.
	Permuted *Number `json:"permuted,omitempty"`
	Trusted  bool    `json:"trusted"` // the value is better than chance
}

// Size recommends the number of features to keep, by several rules.
type Size struct {
	Recommended int        `json:"recommended"`
	Why         string     `json:"why"` // one sentence
	Rules       []SizeRule `json:"rules"`
	// Lone counts the recommended features that resemble no other column and vary as much as most columns. Each of them
	// explains only itself, as noise does, but no other feature can replace it.
	Lone int `json:"lone,omitempty"`
	// Groups is the number of groups worth keeping if groups are chosen, or features at a cost; all other fields count
	// single features. It is 0 if single features are chosen, or if the path ends earlier.
	Groups int `json:"groups,omitempty"`
	// The rules use the features that the method greedy chooses from the centred columns. The Recommended features
	// explain the share Explained of the variance; each later feature adds at most Next, and the best of permuted
	// columns adds at most Noise in 95 of 100 cases. These shares are null if no feature was examined.
	Explained Number `json:"explained"`
	Next      Number `json:"next"`
	Noise     Number `json:"noise"`
}

// Worth compares the chosen features with noise: columns whose entries are permuted separately, so that no columns are
// related. Shares are shares of the variance, the sum of squares of the centred columns in the selection's scale.
type Worth struct {
	Explained Number `json:"explained"` // by all chosen features
	// Faint counts the features that, when chosen, add no more than the best of permuted columns does in 95 of 100
	// cases. Last counts the faint features at the end of the selection.
	Faint int `json:"faint"`
	Last  int `json:"last"`
	// Most is the largest share that a faint feature adds. Noise is the share that noise adds when the first faint
	// feature is chosen. Both are null if no feature is faint.
	Most  Number `json:"faint_most"`
	Noise Number `json:"noise"`
}

// Keeps reports whether the k chosen features may all be recommended: each faint one may be a column that resembles
// no other.
func (z *Size) Keeps(w *Worth, k int) bool {
	return z != nil && w != nil && w.Faint > 0 && w.Faint <= z.Lone && k <= z.Recommended
}

// SizeRule is the result of one rule.
type SizeRule struct {
	Name string `json:"name"`          // the field's term: "elbow", "parallel analysis"
	K    int    `json:"k"`             // 0 if the rule finds none
	Why  string `json:"why,omitempty"` // the figures that support K
}

// Agreement measures how well the selections made from half-samples of the rows agree.
type Agreement struct {
	Shards int    `json:"shards"` // number of parts of the rows, by hash; a half-sample is half of the parts
	Halves int    `json:"halves"` // number of half-samples from which features were selected
	Index  Number `json:"index"`  // Nogueira, Sechidis and Brown (JMLR 2018): 1 if the features are always the same, 0 by chance
	Low    Number `json:"low"`    // lower end of the 95 % confidence interval of Index
	High   Number `json:"high"`
}
