package cluster

import "math"

// pairRowsByGain pairs rows with columns of gain so that the sum of the paired gains is largest. It returns each row's
// column, or -1 for rows without a partner. All rows of gain have the same length.
//
// It is the Hungarian method with potentials. For each row in turn it finds a shortest augmenting path, by Dijkstra's
// search over the columns by reduced cost. The cost is O(min² · max), with min and max the smaller and the larger side
// of gain. Gains are whole numbers, so all results are exact.
func pairRowsByGain(gain [][]float64) []int {
	rows, cols := len(gain), len(gain[0])
	at := func(i, j int) float64 { return -gain[i][j] }
	flipped := rows > cols
	if flipped { // the search needs a column for every row
		rows, cols = cols, rows
		at = func(i, j int) float64 { return -gain[j][i] }
	}
	// Row 0 and column 0 mean that there is no partner; u and v are the potentials.
	u, v := make([]float64, rows+1), make([]float64, cols+1)
	owner, from := make([]int, cols+1), make([]int, cols+1)
	for i := 1; i <= rows; i++ {
		least := make([]float64, cols+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		done := make([]bool, cols+1)
		owner[0] = i
		j := 0
		for owner[j] != 0 {
			done[j] = true
			step, next := math.Inf(1), 0
			for l := 1; l <= cols; l++ {
				if done[l] {
					continue
				}
				if cost := at(owner[j]-1, l-1) - u[owner[j]] - v[l]; cost < least[l] {
					least[l], from[l] = cost, j
				}
				if least[l] < step {
					step, next = least[l], l
				}
			}
			for l := range least {
				if done[l] {
					u[owner[l]] += step
					v[l] -= step
				} else {
					least[l] -= step
				}
			}
			j = next
		}
		for j != 0 {
			owner[j] = owner[from[j]]
			j = from[j]
		}
	}
	pair := make([]int, len(gain))
	for i := range pair {
		pair[i] = -1
	}
	for j := 1; j <= cols; j++ {
		switch i := owner[j]; {
		case i == 0:
		case flipped:
			pair[j-1] = i - 1
		default:
			pair[i-1] = j - 1
		}
	}
	return pair
}
