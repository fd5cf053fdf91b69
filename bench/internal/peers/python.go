package peers

import (
	"context"
	_ "embed" // for the script
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/stream"
)

//go:embed peers.py
var pythonScript []byte

// peer is a method to compare: a method of ufs-stream, or a function of the Python script.
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
)

func allPeers() []peer {
	return []peer{
		{library: "Python", method: startMethod, about: "starts, imports the libraries and reads the rows, which every method in Python does as well"},
		{library: sklearnLibrary, method: "variance", about: "the features that vary most, by VarianceThreshold"},
		{library: sklearnLibrary, method: "agglomeration", about: "FeatureAgglomeration (Ward) of the features in k clusters, and of each the feature nearest to its mean"},
		{library: sklearnLibrary, method: "pca", about: "the features of which the first k principal components explain most"},
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
	var names []string
	for _, p := range allPeers() {
		names = append(names, p.fullName())
	}
	return names
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

// pythonChoice is the output of the script.
type pythonChoice struct {
	Chosen []int           `json:"chosen"`
	Scores []stream.Number `json:"scores"` // null for a feature that cannot be ranked
	Peak   int64           `json:"peak"`
}

// runPython selects by a method of the script. If the script reports its own peak memory, this is used, because the
// system's figure for a child process also includes memory of this process.
func (r *run) runPython(ctx context.Context, method string, rows *sampledRows, k int) (pythonChoice, workshop.Cost, error) {
	out, took, err := workshop.RunChild(ctx, r.python, r.script, method, rows.npy, "-k", strconv.Itoa(k),
		"--clusters", strconv.Itoa(rows.classes), "--scale", r.peerScale, "--threads", strconv.Itoa(r.threads), "--seed", strconv.FormatUint(r.seed, 10),
		"--memory-limit", strconv.FormatInt(int64(r.memory), 10))
	var choice pythonChoice
	if err != nil {
		return choice, took, err
	}
	if err := json.Unmarshal(out, &choice); err != nil {
		return choice, took, fmt.Errorf("%s %s: what it wrote cannot be read: %w", r.script, method, err)
	}
	if choice.Peak > 0 {
		took.Peak = choice.Peak
	}
	return choice, took, nil
}
