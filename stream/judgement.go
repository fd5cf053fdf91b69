package stream

// Trust compares a choice with chance, without labels.
type Trust struct {
	// Choice compares the share that the chosen features explain with that of as many random ones.
	Choice *Chance `json:"choice,omitempty"`
	// Dependence compares the correlation among the columns of a sample of rows with that of independent columns.
	Dependence *Chance `json:"dependence,omitempty"`
	// Clusters compares the graph of a sample of rows with the graph of rows of the same covariance without clusters.
	Clusters *Chance `json:"clusters,omitempty"`
	// Graph compares the method's criterion on the graph of the rows with its value on a copy whose columns are
	// permuted, each by itself, so that there is no structure.
	Graph *Chance `json:"graph,omitempty"`
}

// Chance compares a measure of a choice with its values by chance.
type Chance struct {
	Measure string `json:"measure"` // a description of the measure
	Value   Number `json:"value"`   // larger is better
	Chance  Number `json:"chance"`  // mean of the values by chance
	Spread  Number `json:"spread"`  // their standard deviation; 0 for a single draw
	// Beats is the share of the random choices with a lower value, among all choices if these are few; nil if chance is
	// no random choice.
	Beats *Number `json:"beats,omitempty"`
	// Permuted is the method's value on unrelated, permuted columns; nil if Chance is that.
	Permuted *Number `json:"permuted,omitempty"`
	Trusted  bool    `json:"trusted"` // the value is better than chance
}

// Size recommends the number of features to keep, by several rules.
type Size struct {
	Recommended int        `json:"recommended"`
	Why         string     `json:"why"` // one sentence
	Rules       []SizeRule `json:"rules"`
	// Lone counts the recommended features that resemble no other column and vary as much as most: each explains only
	// itself, as noise does, but no other feature can replace it.
	Lone int `json:"lone,omitempty"`
	// Groups is the number of groups worth keeping if groups are chosen, or features at a cost; all other fields count
	// single features. 0 if single features are chosen, or if the path ends before.
	Groups int `json:"groups,omitempty"`
	// The rules use greedy's features of the centred columns. The Recommended ones explain the share Explained of the
	// variance; each later one adds at most Next, and the best of permuted columns adds at most Noise in 95 of 100
	// cases. Null if none was examined.
	Explained Number `json:"explained"`
	Next      Number `json:"next"`
	Noise     Number `json:"noise"`
}

// Worth compares the chosen features with noise: columns whose entries are permuted, each by itself, so that none are
// related. Shares are of the variance, the sum of squares of the centred columns in the selection's scale.
type Worth struct {
	Explained Number `json:"explained"` // by all chosen features
	// Faint counts the features that add no more at their turn than the best of permuted columns does in 95 of 100
	// cases; Last counts those among them that were chosen last.
	Faint int `json:"faint"`
	Last  int `json:"last"`
	// Most is the largest share that a faint feature adds, Noise the share that noise adds when the first of them is
	// chosen; null if none is faint.
	Most  Number `json:"faint_most"`
	Noise Number `json:"noise"`
}

// Keeps reports whether all faint ones of k chosen features may be recommended columns that resemble no other.
func (z *Size) Keeps(w *Worth, k int) bool {
	return z != nil && w != nil && w.Faint > 0 && w.Faint <= z.Lone && k <= z.Recommended
}

// SizeRule is the result of one rule.
type SizeRule struct {
	Name string `json:"name"`          // the field's term: "elbow", "parallel analysis"
	K    int    `json:"k"`             // 0 if the rule finds none
	Why  string `json:"why,omitempty"` // the figures that support K
}

// Agreement measures how well the selections from half-samples of the rows agree.
type Agreement struct {
	Shards int    `json:"shards"` // of the rows, by hash; a half-sample is half of them
	Halves int    `json:"halves"` // half-samples that were selected from
	Index  Number `json:"index"`  // Nogueira, Sechidis and Brown (JMLR 2018): 1 the same features always, 0 chance
	Low    Number `json:"low"`    // of its 95 % confidence interval
	High   Number `json:"high"`
}
