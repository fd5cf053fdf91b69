package anchor

// Trust measures whether a graph of the rows shows any structure. It compares two choices of features on graphs of
// anchors among themselves. One graph has the anchors, and the other has a copy of them whose columns are permuted
// independently. Such a copy keeps the distribution of each column, but no dependence between columns. The zero value
// means unknown.
//
// Trust depends only on the anchors and the number of neighbours, so it is the same for all shards of a table.
type Trust struct {
	Features int     // number of features in both choices
	Value    float64 // alignment of the choice with the graph's diffusion kernel, from 0 to 1
	Chance   float64 // alignment of the choice on the permuted copy, from 0 to 1

	Few                 int // number of features in a smaller choice; FewValue and FewChance are its Value and Chance
	FewValue, FewChance float64
}

const (
	// A value is better than chance if its ratio to chance is at least trustedRatio, or structuredRatio for the smaller
	// choice, and its difference from chance is at least minBeyond. For 36 tables of pure noise, with 30 to 1,000 rows
	// and 10 to 2,400 columns, the ratio was 0.86 to 1.17. For 10 tables of noise with 2,000 rows and 60 columns, whose
	// alignments were 0.03 to 0.04, it was up to 1.33, with a difference of 0.01. Ten made-up tables of 130 images with
	// 2,400 pixels had 1.12 to 1.24 at 5 % of the features. In these images a few directions of light hide the classes,
	// and no choice beats chance. warpPIE10P, on which choices are good, has 1.41.
	structuredRatio = 1.2
	trustedRatio    = 1.3
	minBeyond       = 0.02
)

// IsTrusted reports whether the choice of t.Features features is better than chance. If rows are few and columns are
// many, it may not be better even for a graph with structure: see HasStructure.
func (t Trust) IsTrusted() bool {
	return t.HasStructure() && isAboveChance(trustedRatio, t.Value, t.Chance)
}

// HasStructure reports whether the smaller choice, of t.Few features, is better than chance.
func (t Trust) HasStructure() bool { return isAboveChance(structuredRatio, t.FewValue, t.FewChance) }

func isAboveChance(ratio, value, chance float64) bool {
	return value >= ratio*chance && value >= chance+minBeyond
}
