package selection

// Target is the matrix B to be reconstructed from the chosen columns. It is given by its products H = BᵀX with X.
type Target struct {
	Rows int       // c, the columns of B
	H    []float64 // c×d row-major; column i is Bᵀxᵢ
	// Own means that column j of B is made of feature j alone. Such a column leaves the target of a second layer
	// together with the feature. Other targets stay whole.
	Own bool
}
