package stream

// Trust compares a choice with chance, without labels.
type Trust struct {
	// Choice compares what the chosen features reach with random ones of as many.
	Choice *Chance `json:"choice,omitempty"`
	// Dependence compares how far the columns of a sample of rows go together with independent columns.
	Dependence *Chance `json:"dependence,omitempty"`
	// Clusters compares the graph of a sample of rows with that of rows of the same covariance without clusters.
	Clusters *Chance `json:"clusters,omitempty"`
	// Graph compares what the method reaches on the graph of the rows with what it reaches on
	// that of a copy whose columns are permuted, each by itself, which has no structure.
	Graph *Chance `json:"graph,omitempty"`
}

// Chance is a measure of a choice beside what chance reaches.
type Chance struct {
	Measure string `json:"measure"` // what is measured, in words
	Value   Number `json:"value"`   // larger is better
	Chance  Number `json:"chance"`  // the mean of chance
	Spread  Number `json:"spread"`  // its standard deviation; 0 where it is one draw
	// Beats is the share of the random choices that reach less: of all that there are, where these are few; nil
	// where chance is no choice.
	Beats *Number `json:"beats,omitempty"`
	// Permuted is what the method reaches on columns that have nothing to do with each other;
	// nil where that is what chance is.
	Permuted *Number `json:"permuted,omitempty"`
	Trusted  bool    `json:"trusted"` // the value is better than chance
}

// Size says how many features to keep, by several rules.
type Size struct {
	Recommended int        `json:"recommended"`
	Why         string     `json:"why"` // in a sentence
	Rules       []SizeRule `json:"rules"`
	// Lone is how many of those recommended are like no other column and vary as much as most: they explain
	// themselves alone, as noise does, but nothing else stands for them.
	Lone int `json:"lone,omitempty"`
	// Groups is how many groups are worth keeping where groups are chosen, or features at a cost: all else
	// here counts single features. 0 where features are chosen, and where a path ends before.
	Groups int `json:"groups,omitempty"`
	// The rules go by greedy's features, of the centred columns. So many of them as are recommended
	// explain the share Explained of the variance; each that comes after adds Next at most, where the
	// best of permuted columns adds no more than Noise, 95 times in 100. Null where none was looked at.
	Explained Number `json:"explained"`
	Next      Number `json:"next"`
	Noise     Number `json:"noise"`
}

// Worth says what the chosen features are worth beside noise: columns whose entries are permuted,
// each by itself, so that nothing goes together. Shares are of the variance, the sum of squares of
// the centred columns in the selection's scale.
type Worth struct {
	Explained Number `json:"explained"` // by all chosen features
	// Faint features add no more, when they come, than the best of permuted columns does (95 times
	// in 100); Last is how many of them are the last ones chosen.
	Faint int `json:"faint"`
	Last  int `json:"last"`
	// Most is the most that one of the faint features adds, Noise what noise adds when the first of
	// them comes; null where none is faint.
	Most  Number `json:"faint_most"`
	Noise Number `json:"noise"`
}

// Keeps reports whether the recommended columns like no other are all that is faint of k chosen features.
func (z *Size) Keeps(w *Worth, k int) bool {
	return z != nil && w != nil && w.Faint > 0 && w.Faint <= z.Lone && k <= z.Recommended
}

// SizeRule is what one rule says.
type SizeRule struct {
	Name string `json:"name"`          // the field's term: "elbow", "parallel analysis"
	K    int    `json:"k"`             // 0 where the rule finds none
	Why  string `json:"why,omitempty"` // the figures it rests on
}

// Agreement is how well the selections from half-samples of the rows agree.
type Agreement struct {
	Shards int    `json:"shards"` // of the rows, by hash; a half-sample is half of them
	Halves int    `json:"halves"` // half-samples that were selected from
	Index  Number `json:"index"`  // Nogueira, Sechidis and Brown (JMLR 2018): 1 the same features always, 0 chance
	Low    Number `json:"low"`    // of its 95 % confidence interval
	High   Number `json:"high"`
}
