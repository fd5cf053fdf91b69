package stream

// Trust compares a choice of features with chance, without labels. Each field is one comparison, or nil.
type Trust struct {
	// Choice compares the share of the variance that the chosen features explain with the share that the same number of
	// random features explain.
	Choice *Chance `json:"choice,omitempty"`
	// Dependence compares the correlation among the columns of a row sample with that of independent columns.
	Dependence *Chance `json:"dependence,omitempty"`
	// Clusters compares the graph of a row sample with the graph of random rows with equal covariance but no clusters.
	Clusters *Chance `json:"clusters,omitempty"`
	// Graph compares the method's criterion on the graph of the rows with the criterion on a copy of the data. In this
	// copy each column is permuted separately, so that columns have no common structure.
	Graph *Chance `json:"graph,omitempty"`
}

// Chance compares a measure of a choice with its values by chance.
type Chance struct {
	Measure string `json:"measure"` // a description of the measure
	Value   Number `json:"value"`   // larger is better
	Chance  Number `json:"chance"`  // mean of the values obtained by chance
	Spread  Number `json:"spread"`  // standard deviation of the values obtained by chance; 0 for a single draw
	// Beats is the share of random choices whose value is lower. If there are only few possible choices, all of them are
	// compared, instead of random choices. Beats is nil if Chance does not come from random choices.
	Beats *Number `json:"beats,omitempty"`
	// Permuted is the method's value on permuted columns, which are unrelated; nil if Chance is this value.
	Permuted *Number `json:"permuted,omitempty"`
	Trusted  bool    `json:"trusted"` // the value is better than chance
}

// Size recommends the number of features to keep, by several rules.
type Size struct {
	Recommended int        `json:"recommended"`
	Why         string     `json:"why"` // one sentence
	Rules       []SizeRule `json:"rules"`
	// Lone counts recommended features that resemble no other column and vary as much as most columns. Each of them
	// explains only itself, as noise does, but no other feature can replace it.
	Lone int `json:"lone,omitempty"`
	// Groups is the number of groups worth keeping, if groups of features are chosen, or if features are chosen by cost.
	// It is 0 otherwise, or if the sequence of choices that was examined is too short to show this number. All other
	// fields count single features.
	Groups int `json:"groups,omitempty"`
	// The rules examine the features that the method greedy chooses from the centred columns. The Recommended features
	// explain the share Explained of the variance. Each later feature adds at most the share Next. If the entries of all
	// columns are permuted, the best column adds at most the share Noise in 95 of 100 cases. The shares are null if no
	// feature was examined.
	Explained Number `json:"explained"`
	Next      Number `json:"next"`
	Noise     Number `json:"noise"`
}

// Worth compares the chosen features with noise, i.e. with columns whose entries are permuted separately, so that the
// columns are unrelated. All shares are shares of the variance, which is the sum of squares of the centred columns in
// the selection's scale.
type Worth struct {
	Explained Number `json:"explained"` // share that all chosen features explain
	// Faint counts faint features: when chosen, they add no more than the best of permuted columns does in 95 of 100
	// cases. Last counts the faint features at the end of the selection.
	Faint int `json:"faint"`
	Last  int `json:"last"`
	// Most is the largest share that any faint feature adds. Noise is the share that the best of permuted columns adds
	// at the turn of the first faint feature. Both are null if no feature is faint.
	Most  Number `json:"faint_most"`
	Noise Number `json:"noise"`
}

// Keeps reports whether the k chosen features may all be recommended although some are faint. They may if k is at most
// Recommended and w counts at most Lone faint features.
func (z *Size) Keeps(w *Worth, k int) bool {
	return z != nil && w != nil && w.Faint > 0 && w.Faint <= z.Lone && k <= z.Recommended
}

// SizeRule is the result of one rule.
type SizeRule struct {
	Name string `json:"name"`          // name in the literature: "elbow", "parallel analysis"
	K    int    `json:"k"`             // number of features by this rule; 0 if it finds none
	Why  string `json:"why,omitempty"` // figures from which K follows
}

// Agreement measures how similar the selections from different half-samples of the rows are.
type Agreement struct {
	Shards int    `json:"shards"` // number of parts into which rows are divided by hash; a half-sample is half of the parts
	Halves int    `json:"halves"` // number of half-samples from which features were selected
	Index  Number `json:"index"`  // by Nogueira, Sechidis and Brown (JMLR 2018): 1 for identical selections, 0 for random ones
	Low    Number `json:"low"`    // lower end of the 95 % confidence interval of Index
	High   Number `json:"high"`   // upper end
}
