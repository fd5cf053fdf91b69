package kernel

// SquaresBlock is the number by which the length of vectors for [SquaredDistances] must be divisible.
const SquaresBlock = squaresBlock

// SquaredDistances returns ‖x − y‖² and ‖x − z‖² with the same bits as [Nearest]. The vectors must be padded with zeros
// to a multiple of SquaresBlock.
func SquaredDistances(x, y, z []float64) (xy, xz float64) {
	if len(x)%squaresBlock != 0 || len(y) < len(x) || len(z) < len(x) {
		panic("kernel: Squares of vectors that are not whole blocks")
	}
	return best.squaredDistances(len(x)/squaresBlock, x, y, z, y, z)
}
