package stream

// Trust compares a choice with chance, without labels.
type Trust struct {
	// Choice compares what the chosen features reach with random ones of as many.
	Choice *Chance `json:"choice,omitempty"`
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
