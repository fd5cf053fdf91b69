package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// This file checks the methods of peers.py against their definitions, written out as sums over pairs on a table
// of 12 rows. Figures agree to 1e-9: both sides add a few hundred numbers of about 1 in float64, and the
// eigenvectors have gaps above 0.01, to ARPACK's last bits.

const (
	twinRows, twinColumns, twinNeighbours = 12, 4, 5
	twinClose                             = 1e-9
)

// askScript runs the script on a table, rows by columns.
func askScript(t *testing.T, x [][]float64, args ...string) scriptChoice {
	t.Helper()
	return askScriptAs(t, x, false, args...)
}

// askScriptAs runs the script on a table of float64, or of float32 if it is narrow.
func askScriptAs(t *testing.T, x [][]float64, narrow bool, args ...string) scriptChoice {
	t.Helper()
	dir := t.TempDir()
	script, npy := filepath.Join(dir, "peers.py"), filepath.Join(dir, "x.npy")
	if err := os.WriteFile(script, pythonScript, 0o600); err != nil {
		t.Fatalf("writing the script: %v", err)
	}
	p := sampledRows{names: make([]string, len(x[0])), rows: int64(len(x)), npy: npy, narrow: narrow}
	var b bytes.Buffer
	out := bufio.NewWriter(&b)
	if err := p.writeHead(out); err != nil {
		t.Fatalf("writing the array's head: %v", err)
	}
	for _, row := range x {
		if err := p.writeRow(out, row); err != nil {
			t.Fatalf("writing a row: %v", err)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatalf("flushing the array: %v", err)
	}
	if err := os.WriteFile(npy, b.Bytes(), 0o600); err != nil {
		t.Fatalf("writing the array's file: %v", err)
	}
	text, _, err := workshop.RunChild(t.Context(), defaultOptions().python, append([]string{script, args[0], npy, "--neighbours", strconv.Itoa(twinNeighbours), "--threads", "1"}, args[1:]...)...)
	if err != nil {
		t.Fatalf("running the script: %v", err)
	}
	var c scriptChoice
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("reading the script's answer: %v", err)
	}
	return c
}

// twinTable is a table of noise, its standardized columns, and the squared distances of these rows.
func twinTable() (x, z, d2 [][]float64) {
	r := rand.New(rand.NewPCG(3, 5))
	square := func(n, m int) [][]float64 {
		a := make([][]float64, n)
		for i := range a {
			a[i] = make([]float64, m)
		}
		return a
	}
	x, z, d2 = square(twinRows, twinColumns), square(twinRows, twinColumns), square(twinRows, twinRows)
	for j := range twinColumns {
		mean, scatter := 0.0, 0.0
		for i := range twinRows {
			x[i][j] = float64(100*j) + float64(1+10*j)*r.NormFloat64()
			mean += x[i][j] / twinRows
		}
		for i := range twinRows {
			scatter += (x[i][j] - mean) * (x[i][j] - mean) / twinRows
		}
		for i := range twinRows {
			z[i][j] = (x[i][j] - mean) / math.Sqrt(scatter)
		}
	}
	for i := range z {
		for l := range z {
			for j := range twinColumns {
				d2[i][l] += (z[i][j] - z[l][j]) * (z[i][j] - z[l][j])
			}
		}
	}
	return x, z, d2
}

// neighbourWeights is exp(−d²/t) of rows of which one is among the nearest of the other, t being
// the mean of d² over such pairs; and the sum of the weights of each row.
func neighbourWeights(d2 [][]float64) (w [][]float64, degree []float64) {
	n := len(d2)
	joined := func(i, l int) bool {
		nearer := 0
		for m := range n {
			if m != i && d2[i][m] < d2[i][l] {
				nearer++
			}
		}
		return i != l && nearer < twinNeighbours
	}
	sum, pairs := 0.0, 0.0
	for i := range n {
		for l := range n {
			if joined(i, l) || joined(l, i) {
				sum, pairs = sum+d2[i][l], pairs+1
			}
		}
	}
	w, degree = make([][]float64, n), make([]float64, n)
	for i := range n {
		w[i] = make([]float64, n)
		for l := range n {
			if joined(i, l) || joined(l, i) {
				w[i][l] = math.Exp(-d2[i][l] / (sum / pairs))
				degree[i] += w[i][l]
			}
		}
	}
	return w, degree
}

func wantScores(t *testing.T, method string, got scriptChoice, want []float64) {
	t.Helper()
	if len(got.Scores) != len(want) {
		t.Fatalf("%s: %d scores, want %d", method, len(got.Scores), len(want))
	}
	for j := range want {
		if math.Abs(float64(got.Scores[j])-want[j]) > twinClose*max(1, math.Abs(want[j])) {
			t.Errorf("%s: feature %d has the score %v, want %v", method, j, got.Scores[j], want[j])
		}
	}
}

// bestOf are the numbers of the scores, the lowest first.
func bestOf(scores []float64, sign float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(math.Copysign(1, sign*(scores[a]-scores[b]))) })
	return order
}

func TestPeersLaplacianTwin(t *testing.T) {
	long.SkipTest(t)
	needsScikitLearn(t)
	x, z, d2 := twinTable()
	w, degree := neighbourWeights(d2)
	want := make([]float64, twinColumns)
	for j := range want {
		mean, sum := 0.0, 0.0
		for i := range z {
			mean, sum = mean+degree[i]*z[i][j], sum+degree[i]
		}
		mean /= sum
		rough, scatter := 0.0, 0.0
		for i := range z {
			scatter += degree[i] * (z[i][j] - mean) * (z[i][j] - mean)
			for l := range z {
				rough += w[i][l] * (z[i][j] - z[l][j]) * (z[i][j] - z[l][j]) / 2
			}
		}
		want[j] = rough / scatter
	}
	got := askScript(t, x, "laplacian", "-k", "4")
	wantScores(t, "laplacian", got, want)
	if !slices.Equal(got.Chosen, bestOf(want, 1)) {
		t.Errorf("it chose %v by %v", got.Chosen, want)
	}
}

func TestPeersSPECTwin(t *testing.T) {
	long.SkipTest(t)
	needsScikitLearn(t)
	x, z, d2 := twinTable()
	mean := 0.0
	for i := range d2 {
		for l := range d2 {
			mean += d2[i][l] / (twinRows * (twinRows - 1))
		}
	}
	want := make([]float64, twinColumns)
	for j := range want {
		// φ₂ = φ₁/(1 − α₁²), φ₁ = ½ Σ w(f_i − f_l)² / Σ d f², α₁² = (Σ d f)² / (Σ d · Σ d f²).
		rough, squares, sum, degrees := 0.0, 0.0, 0.0, 0.0
		for i := range z {
			for l := range z {
				w := math.Exp(-d2[i][l] / mean)
				rough += w * (z[i][j] - z[l][j]) * (z[i][j] - z[l][j]) / 2
				squares, sum, degrees = squares+w*z[i][j]*z[i][j], sum+w*z[i][j], degrees+w
			}
		}
		want[j] = rough / squares / (1 - sum*sum/(degrees*squares))
	}
	got := askScript(t, x, "spec", "-k", "4")
	wantScores(t, "spec", got, want)
	if !slices.Equal(got.Chosen, bestOf(want, 1)) {
		t.Errorf("it chose %v by %v", got.Chosen, want)
	}
}

// With one eigenvector and one step of LARS, MCFS gives a weight to the feature that follows the eigenvector
// most, up to the point at which another one follows the residual as well.
func TestPeersMCFSTwin(t *testing.T) {
	long.SkipTest(t)
	needsScikitLearn(t)
	x, z, d2 := twinTable()
	w, degree := neighbourWeights(d2)
	y := secondEigenvector(w, degree)
	follows := make([]float64, twinColumns)
	for j := range follows {
		for i := range z {
			follows[j] += z[i][j] * y[i]
		}
	}
	first := 0
	for j := range follows {
		if math.Abs(follows[j]) > math.Abs(follows[first]) {
			first = j
		}
	}
	most, sign := math.Abs(follows[first]), math.Copysign(1, follows[first])
	step := math.Inf(1)
	for j := range follows {
		if j == first {
			continue
		}
		product := 0.0
		for i := range z {
			product += z[i][j] * z[i][first] * sign
		}
		step = min(step, (most-follows[j])/(twinRows-product), (most+follows[j])/(twinRows+product))
	}
	want := make([]float64, twinColumns)
	want[first] = step
	got := askScript(t, x, "mcfs", "-k", "1", "--clusters", "1")
	wantScores(t, "mcfs", got, want)
	if !slices.Equal(got.Chosen, []int{first}) {
		t.Errorf("it chose %v, want %d", got.Chosen, first)
	}
}

// secondEigenvector is y of Wy = μDy with the second largest μ, of length 1, by iteration with
// (D⁻¹W + 1)/2, whose eigenvalues are from 0 to 1.
func secondEigenvector(w [][]float64, degree []float64) []float64 {
	n := len(w)
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(i*i%7) + 0.1*float64(i)
	}
	for range 5000 {
		mean, sum := 0.0, 0.0
		for i := range y {
			mean, sum = mean+degree[i]*y[i], sum+degree[i]
		}
		next, length := make([]float64, n), 0.0
		for i := range y {
			y[i] -= mean / sum // the first eigenvector is constant
		}
		for i := range y {
			for l := range y {
				next[i] += w[i][l] * y[l] / degree[i] / 2
			}
			next[i] += y[i] / 2
			length += next[i] * next[i]
		}
		for i := range y {
			y[i] = next[i] / math.Sqrt(length)
		}
	}
	return y
}

func TestPeersVarianceAndPCATwins(t *testing.T) {
	long.SkipTest(t)
	needsScikitLearn(t)
	x, z, _ := twinTable()
	want := make([]float64, twinColumns)
	for j := range want {
		// The second column's variance is above its range, which scikit-learn would give by default.
		mean := 0.0
		for i := range x {
			mean += x[i][j] / twinRows
		}
		for i := range x {
			want[j] += (x[i][j] - mean) * (x[i][j] - mean) / twinRows
		}
	}
	got := askScript(t, x, "variance", "-k", "2")
	wantScores(t, "variance", got, want)
	if !slices.Equal(got.Chosen, bestOf(want, -1)[:2]) {
		t.Errorf("variance chose %v by %v", got.Chosen, want)
	}

	// The first principal component, by iteration with the covariances of the standardized columns.
	v := []float64{1, 0.5, -0.3, 0.2}
	lambda := 0.0
	for range 5000 {
		next := make([]float64, twinColumns)
		for i := range z {
			along := 0.0
			for j := range v {
				along += z[i][j] * v[j]
			}
			for j := range v {
				next[j] += z[i][j] * along / (twinRows - 1)
			}
		}
		lambda = 0
		for _, a := range next {
			lambda += a * a
		}
		lambda = math.Sqrt(lambda)
		for j := range v {
			v[j] = next[j] / lambda
		}
	}
	for j := range want {
		want[j] = lambda * v[j] * v[j]
	}
	got = askScript(t, x, "pca", "-k", "1")
	wantScores(t, "pca", got, want)
	if !slices.Equal(got.Chosen, bestOf(want, -1)[:1]) {
		t.Errorf("pca chose %v by %v", got.Chosen, want)
	}
}

// With as many components as features, IncrementalPCA loses nothing: over batches of any size, also where the last one
// is too small for it, the scores are those of one PCA.
func TestPeersIncrementalIsPCA(t *testing.T) {
	long.SkipTest(t)
	needsScikitLearn(t)
	x, _, _ := twinTable()
	want := askScript(t, x, "pca", "-k", "4")
	scores := make([]float64, len(want.Scores))
	for j, s := range want.Scores {
		scores[j] = float64(s)
	}
	for _, batch := range []string{"100", "6", "5"} {
		got := askScript(t, x, "incremental", "-k", "4", "--batch", batch)
		wantScores(t, "incremental by "+batch+" rows", got, scores)
	}
}

// projectedSquares is the sum of squares of the projections of the columns of targets on the span of the columns of z
// in set. Both are rows by columns.
func projectedSquares(z [][]float64, set []int, targets [][]float64) float64 {
	var basis [][]float64
	for _, j := range set {
		v := make([]float64, len(z))
		for i := range z {
			v[i] = z[i][j]
		}
		for range 2 { // the second turn removes the rounding of the first
			for _, b := range basis {
				floats.AddScaled(v, -floats.Dot(b, v), b)
			}
		}
		floats.Scale(1/floats.Norm(v, 2), v)
		basis = append(basis, v)
	}
	sum := 0.0
	for _, b := range basis {
		for c := range targets[0] {
			along := 0.0
			for i := range b {
				along += b[i] * targets[i][c]
			}
			sum += along * along
		}
	}
	return sum
}

// chooseByDefinition adds the column of the largest value k times.
func chooseByDefinition(columns, k int, value func(chosen []int, j int) float64) (chosen []int) {
	for range k {
		best := -1
		for j := range columns {
			if !slices.Contains(chosen, j) && (best < 0 || value(chosen, j) > value(chosen, best)) {
				best = j
			}
		}
		chosen = append(chosen, best)
	}
	return chosen
}

// The choices of the greedy methods agree with their definitions by projections: of all columns (gram), of a column
// itself (qr), and of the first principal components (fastcan).
func TestPeersGreedyTwins(t *testing.T) {
	long.SkipTest(t)
	needsScikitLearn(t)
	const columns, k = 9, 5
	r := rand.New(rand.NewPCG(7, 11))
	x, z := make([][]float64, 40), mat.NewDense(40, columns, nil)
	for i := range x {
		x[i] = make([]float64, columns)
		factors := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		for j := range x[i] {
			x[i][j] = 10 + factors[j%3]*float64(1+j) + factors[(j+1)%3] + r.NormFloat64()
		}
	}
	rows := make([][]float64, len(x))
	for j := range columns {
		column := make([]float64, len(x))
		for i := range x {
			column[i] = x[i][j]
		}
		mean, scatter := stat.PopMeanStdDev(column, nil)
		for i := range x {
			z.Set(i, j, (column[i]-mean)/scatter)
		}
	}
	for i := range rows {
		rows[i] = z.RawRowView(i)
	}
	var svd mat.SVD
	if !svd.Factorize(z, mat.SVDThin) {
		t.Fatal("the decomposition by singular values failed")
	}
	var left mat.Dense
	svd.UTo(&left)
	components := make([][]float64, len(x))
	for i := range components {
		components[i] = left.RawRowView(i)[:k]
	}
	for method, value := range map[string]func(chosen []int, j int) float64{
		gramMethod: func(s []int, j int) float64 { return projectedSquares(rows, append(slices.Clip(s), j), rows) },
		"fastcan":  func(s []int, j int) float64 { return projectedSquares(rows, append(slices.Clip(s), j), components) },
		"qr": func(s []int, j int) float64 {
			own := make([][]float64, len(rows))
			for i := range own {
				own[i] = rows[i][j : j+1]
			}
			return float64(len(rows)) - projectedSquares(rows, s, own)
		},
	} {
		want := chooseByDefinition(columns, k, value)
		for _, narrow := range []bool{false, true} {
			if got := askScriptAs(t, x, narrow, method, "-k", strconv.Itoa(k)).Chosen; !slices.Equal(got, want) {
				t.Errorf("%s chose %v, want %v by its definition (float32: %t)", method, got, want, narrow)
			}
		}
	}
}

// Of groups of alike features the largest comes first, and each is shown by its middle one.
func TestPeersAgglomerationChoosesTheMiddle(t *testing.T) {
	long.SkipTest(t)
	needsScikitLearn(t)
	r := rand.New(rand.NewPCG(1, 2))
	x := make([][]float64, 30)
	for i := range x {
		a, b, away := r.NormFloat64(), r.NormFloat64(), 0.1*r.NormFloat64()
		x[i] = []float64{b - away, a - away, a - 2*away, a + away, b, a, b + away, a + 2*away}
	}
	if got := askScript(t, x, "agglomeration", "-k", "2"); !slices.Equal(got.Chosen, []int{5, 4}) {
		t.Errorf("it chose %v, want 5, the middle of five, and 4, the middle of three", got.Chosen)
	}
}
