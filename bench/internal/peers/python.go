package peers

import (
	"bufio"
	"context"
	_ "embed" // for the script
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

//go:embed peers.py
var pythonScript []byte

//go:embed pairs.mjs
var pairsScript []byte

// peer is a method to compare: a method of ufs-stream, a function of the Python script, or an engine of pairs.mjs.
type peer struct {
	library string // name of its library in the results
	method  string
	about   string
}

const (
	ourLibrary     = "ufs-stream"
	sklearnLibrary = "scikit-learn"
	denseLibrary   = "scikit-feature-like"
	startMethod    = "start" // only starts and reads the data
	gramMethod     = "gram"  // greedy selection from the matrix of all pairs
)

// allEngines has the libraries that pairs.mjs runs. Their names in lower case are its arguments.
var allEngines = []string{"DuckDB", "polars"}

func allPeers() []peer {
	return []peer{
		{library: "Python", method: startMethod, about: "starts, imports the libraries and reads the rows, which every method in Python does as well"},
		{library: sklearnLibrary, method: "variance", about: "the features that vary most, by VarianceThreshold"},
		{library: sklearnLibrary, method: "agglomeration", about: "FeatureAgglomeration (Ward) of the features in k clusters, and of each the feature nearest to its mean"},
		{library: sklearnLibrary, method: "pca", about: "the features of which the first k principal components explain most"},
		{library: sklearnLibrary, method: "incremental", about: "as pca, by IncrementalPCA over batches of a memory map"},
		{library: "NumPy", method: gramMethod, about: "ufs-stream's greedy written in NumPy, from X.T @ X of a memory map"},
		{library: "SciPy", method: "qr", about: "the first k pivots of QR with column pivoting"},
		{library: "FastCan-like", method: "fastcan", about: "h-correlation with the first k principal components (Zhang, Lang 2022)"},
		{library: allEngines[0], method: gramMethod, about: "the same greedy, from corr(a, b) of all pairs in SQL, 4,000 a query"},
		{library: allEngines[1], method: gramMethod, about: "the same greedy, from pearsonCorr of all pairs, by Node.js"},
		{library: denseLibrary, method: "laplacian", about: "Laplacian score (He, Cai, Niyogi 2005) on a dense n × n matrix of the graph of 5 neighbours"},
		{library: denseLibrary, method: "spec", about: "SPEC's φ₂ (Zhao, Liu 2007) by the full spectrum of a dense n × n matrix, as scikit-feature takes it; for γ(λ) = λ a product would do"},
		{library: denseLibrary, method: "mcfs", about: "MCFS (Cai, Zhang, He 2010): the same graph as the Laplacian score, scikit-learn's spectral embedding and LARS"},
		{library: ourLibrary, method: "laplacian", about: "Laplacian score on the anchor graph"},
		{library: ourLibrary, method: "spec", about: "SPEC's φ₂ on the anchor graph"},
		{library: ourLibrary, method: "mcfs", about: "MCFS on the anchor graph"},
		{library: ourLibrary, method: "greedy", about: "the features that best reconstruct all others"},
		{library: ourLibrary, method: "align", about: "the default where the rows have clusters"},
	}
}

func (p peer) fullName() string { return p.library + ":" + p.method }

func allPeerNames() []string {
	return convert.Each(allPeers(), peer.fullName)
}

func (r *run) findPython(ctx context.Context) error {
	const remedy = "install scikit-learn, by apt-get install python3-sklearn or pip install scikit-learn, or name a Python that has it: --python FILE"
	path, err := exec.LookPath(r.python)
	if err != nil {
		return stream.Usagef("peers: --python %s is not there: %v; %s", r.python, err, remedy)
	}
	r.python, r.script = path, r.shop.Path("peers.py")
	if err := os.WriteFile(r.script, pythonScript, 0o600); err != nil {
		return &stream.OutputError{Path: r.script, Err: err}
	}
	out, _, err := workshop.RunChild(ctx, r.python, r.script, "check")
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return stream.Usagef("peers: %v\n%s", err, remedy)
	}
	r.versions = strings.TrimSpace(string(out))
	return nil
}

func (r *run) findEngines(ctx context.Context) error {
	r.pairs = r.shop.Path("pairs.mjs")
	if err := os.WriteFile(r.pairs, pairsScript, 0o600); err != nil {
		return &stream.OutputError{Path: r.pairs, Err: err}
	}
	modules, err := filepath.Abs(r.modules)
	if err != nil {
		return stream.Usagef("peers: --modules %s: %v", r.modules, err)
	}
	r.modules = modules
	for _, engine := range allEngines {
		out, _, err := workshop.RunChild(ctx, r.node, r.pairsArgs(engine, &sampledRows{}, 0)...)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.printRemark("%s is left out: %s or its package in --modules %s is absent", engine, r.node, r.modules)
		default:
			r.engines = append(r.engines, engine)
			r.versions += fmt.Sprintf(", %s %s", engine, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

func (r *run) isMeasured(p peer) bool {
	return (len(r.methods) == 0 || slices.Contains(r.methods, p.fullName())) &&
		(!slices.Contains(allEngines, p.library) || slices.Contains(r.engines, p.library))
}

func (r *run) pairsArgs(engine string, rows *sampledRows, k int) []string {
	return []string{r.pairs, strings.ToLower(engine), r.modules, rows.parquet, r.label, strconv.Itoa(k), strconv.Itoa(r.threads), strconv.FormatInt(int64(r.memory), 10)}
}

type scriptChoice struct {
	Chosen []int           `json:"chosen"`
	Scores []stream.Number `json:"scores"` // null for a feature that cannot be ranked
	Peak   int64           `json:"peak"`
}

// runScript selects by a function of a script. If the script reports its own peak memory, this is used, because the
// system's figure for a child process also includes memory of this process.
func (r *run) runScript(ctx context.Context, p peer, rows *sampledRows, k int) (scriptChoice, workshop.Cost, error) {
	program, args := r.python, []string{r.script, p.method, rows.npy, "-k", strconv.Itoa(k),
		"--clusters", strconv.Itoa(rows.classes), "--scale", r.peerScale, "--threads", strconv.Itoa(r.threads), "--seed", strconv.FormatUint(r.seed, 10),
		"--memory-limit", strconv.FormatInt(int64(r.memory), 10)}
	if slices.Contains(allEngines, p.library) {
		program, args = r.node, r.pairsArgs(p.library, rows, k)
	}
	out, took, err := workshop.RunChild(ctx, program, args...)
	var choice scriptChoice
	if err != nil {
		return choice, took, err
	}
	if err := json.Unmarshal(out, &choice); err != nil {
		return choice, took, fmt.Errorf("%s: what it wrote cannot be read: %w", p.fullName(), err)
	}
	if choice.Peak > 0 {
		took.Peak = choice.Peak
	}
	return choice, took, nil
}

// sampledRows is a sample of a table's rows, in a file for ufs-stream and in a file for Python.
type sampledRows struct {
	names   []string // names of the features
	rows    int64
	classes int
	parquet string // path of the file with the label
	npy     string // path of the file without the label
	narrow  bool   // the values in npy are float32
}

func (r *run) sampleRows(ctx context.Context, path string, n int64) (*sampledRows, error) {
	opt := chunkio.Options{Label: r.label, Classes: true, Seed: r.seed, Threads: r.threads}
	all, err := chunkio.Open(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	if opt.Sample = min(n, all.Rows()); opt.Sample == all.Rows() {
		opt.Sample = 0
	}
	rows := min(n, all.Rows())
	all.Close()
	ds, err := chunkio.Open(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	if err := ds.Check(); err != nil {
		return nil, err
	}
	p := &sampledRows{rows: rows, narrow: r.peerType == "float32", parquet: r.shop.Path("rows.parquet"), npy: r.shop.Path("rows.npy")}
	for _, c := range ds.Columns() {
		p.names = append(p.names, c.Name)
	}
	if len(p.names) < 4 || rows < minRows {
		return nil, stream.Dataf(path, "%d rows of %d features are too few to choose from", rows, len(p.names))
	}
	classOf, err := p.writeNPY(ctx, ds)
	if err != nil {
		var value *stream.DataError
		if errors.As(err, &value) && value.Row >= 0 {
			value.Remedy = stream.Textf("peers hands over whole rows: name a table without missing values")
		}
		return nil, err
	}
	seen := make(map[int32]bool)
	for _, class := range classOf {
		if class < 0 {
			return nil, stream.Dataf(path, "some rows have no class in column %s: give each one, or name another column by --label", r.label)
		}
		seen[class] = true
	}
	if p.classes = len(seen); p.classes < 2 {
		return nil, stream.Dataf(path, "column %s has one class in the rows that are drawn: clusters cannot be compared with it", r.label)
	}
	return p, chunkio.WriteParquet(ctx, p.parquet, ds, chunkio.WriteOptions{
		LabelName: r.label, Label: func(position int64) int32 { return classOf[position] }, Threads: r.threads,
	})
}

func (p *sampledRows) writeNPY(ctx context.Context, src stream.Source) (map[int64]int32, error) {
	f, err := os.Create(p.npy)
	if err != nil {
		return nil, &stream.OutputError{Path: p.npy, Err: err}
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	classOf, err := p.writeRows(ctx, src, out)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return nil, &stream.OutputError{Path: p.npy, Err: err}
	}
	if int64(len(classOf)) != p.rows {
		return nil, fmt.Errorf("%s: read %d rows where %d were drawn", p.npy, len(classOf), p.rows)
	}
	return classOf, nil
}

func (p *sampledRows) writeRows(ctx context.Context, src stream.Source, out *bufio.Writer) (map[int64]int32, error) {
	if err := p.writeHead(out); err != nil {
		return nil, err
	}
	classOf := make(map[int64]int32)
	row := make([]float64, len(p.names))
	for c, err := range src.Chunks(ctx, stream.Range{}) {
		if err != nil {
			return nil, err
		}
		for i := range c.Rows {
			classOf[c.Position(i)] = c.Class[i]
			for j := range row {
				row[j] = c.Data[j*c.Stride+i]
			}
			if err := p.writeRow(out, row); err != nil {
				return nil, err
			}
		}
	}
	return classOf, nil
}

// writeHead writes the header of the array. It has 128 bytes, because the format .npy requires a multiple of 64.
func (p *sampledRows) writeHead(out *bufio.Writer) error {
	bytes := 8
	if p.narrow {
		bytes = 4
	}
	head := fmt.Sprintf("%-*s\n", 128-11, fmt.Sprintf("{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, %d), }", bytes, p.rows, len(p.names)))
	if _, err := out.WriteString("\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(head)))) + head); err != nil {
		return &stream.OutputError{Path: p.npy, Err: err}
	}
	return nil
}

func (p *sampledRows) writeRow(out *bufio.Writer, row []float64) error {
	for _, v := range row {
		b := out.AvailableBuffer()
		if p.narrow {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		if _, err := out.Write(b); err != nil {
			return &stream.OutputError{Path: p.npy, Err: err}
		}
	}
	return nil
}
