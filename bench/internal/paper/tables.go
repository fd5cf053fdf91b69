package paper

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/bench/internal/tuning"
)

// table describes a table of a paper on which ufs-stream is based: the methods, the datasets, and the figures to
// compare with. For a new method add a line to methods, for a new figure a line to references.
type table struct {
	name             string // name of the table in --tables
	title            string
	about            string   // text that explains the experiment
	protocol         string   // protocol of eval
	judgeFlags       []string // more flags of eval
	measures         []measure
	sets             []dataset
	methods          []contender
	references       []figure // scores to compare with, in per cent
	referenceSeconds []figure // running times to compare with, in seconds
	emnist           bool     // the table also uses the dataset of --emnist
}

// measure is one of the scores of a clustering: its title, and its field in the results of eval.
type measure struct{ title, field string }

// dataset is a file and the numbers of features to select from it.
type dataset struct {
	title, file string
	path        string // path of the input, if it is not the file in the folder of the datasets
	features    int
	classes     int
	counts      []int
	scale       string   // scale of the columns for select and eval; "" is none
	scaledRows  bool     // each row is scaled to [0, 1] before, as the paper does with images
	choiceFlags []string // flags of eval for the choice of settings by the labels, if every run of k-means is dear
}

// contender is a way to choose features, such as a method.
type contender struct {
	title           string
	baseline        bool                // a baseline that eval computes without a selection file, and calls by this title
	rankingPerCount bool                // the ranking depends on the number of features, so that select must run for every number
	takesClasses    bool                // --clusters is set to the number of classes, as in the paper of the method
	flags           []string            // flags of select
	flagsOfSet      map[string][]string // more flags of select on a set, by its title
	grids           []tuning.Grid       // the settings from which the labels choose the best, as in the paper of the method
}

// allFeatures names the baseline that uses all features.
const allFeatures = "all"

// figure is a number that a paper prints, in per cent or seconds, measured on its machine and its data.
type figure struct {
	set, method, measure string
	count                int // 0: the best of the method's settings and numbers of features, which labels choose
	value                float64
}

func allTables() []table {
	return []table{greedyTable(), sfufsTable(), eufsTable(), cpufsTable()}
}

func greedyTable() table {
	t := table{
		name:  "greedy",
		title: "Farahat, Ghodsi, Kamel (2013), Table 2: NMI of k-means on the selected features",
		about: "Values as in the file (`--scale none`), but of the images each row scaled to [0, 1]; 1, 4, 7 and 10 % of the " +
			"features. A run is one k-means, with as many clusters as classes; the best of 10 restarts by inertia, which " +
			"`eval` takes by `--protocol greedy`, is 1 to 2 points above the printed figures of all columns. Mean and standard " +
			"deviation are over the runs. NMI is divided by the geometric mean of the entropies.",
		protocol:   "greedy",
		judgeFlags: []string{"--restarts", "1"},
		measures:   []measure{{"NMI", "nmi_sqrt"}},
		sets: []dataset{
			{title: "ORL", file: "orl.parquet", features: 1024, classes: 40, counts: []int{10, 41, 72, 102}, scaledRows: true},
			{title: "COIL20", file: "coil20.parquet", features: 1024, classes: 20, counts: []int{10, 41, 72, 102}, scaledRows: true},
			{title: "Isolet", file: "isolet.parquet", features: 617, classes: 26, counts: []int{6, 25, 43, 62}},
			{title: "USPS", file: "usps.parquet", features: 256, classes: 10, counts: []int{3, 10, 18, 26}, scaledRows: true},
		},
		methods: []contender{
			{title: allFeatures, baseline: true},
			{title: "random", baseline: true},
			{title: "variance", baseline: true},
			{title: "laplacian", flags: []string{"--method", "laplacian"}},
			{title: "mcfs", flags: []string{"--method", "mcfs"}, rankingPerCount: true, takesClasses: true},
			{title: "partgreedy", flags: []string{"--method", "partgreedy"}},
			{title: "greedy", flags: []string{"--method", "greedy"}},
			{title: "graphgreedy (ours)", flags: []string{"--method", "graphgreedy"}},
		},
	}
	for _, printed := range []struct {
		set, method string
		values      []float64
	}{
		{"ORL", "greedy", []float64{68.8, 70.4, 69.0}},
		{"COIL20", "greedy", []float64{74.3, 73.3, 74.7}},
		{"Isolet", "greedy", []float64{62.6, 67.1, 69.2}},
		{"USPS", "greedy", []float64{54.8, 62.2, 65.2}},
		{"ORL", "partgreedy", []float64{67.4, 68.7, 69.4}},
		{"USPS", "partgreedy", []float64{47.0, 56.3, 61.5}},
		{"COIL20", "mcfs", []float64{70.9, 71.0, 73.0}},
		{"COIL20", "laplacian", []float64{64.8, 67.6, 67.9}},
	} {
		for i, k := range t.findSet(printed.set).counts[1:] { // of 1 % we have no figures
			t.references = append(t.references, figure{printed.set, printed.method, "NMI", k, printed.values[i]})
		}
	}
	for set, value := range map[string]float64{"ORL": 70.6, "COIL20": 73.8, "Isolet": 75.4, "USPS": 65.7} {
		t.references = append(t.references, figure{set, allFeatures, "NMI", t.findSet(set).features, value})
	}
	return t
}

func gridsOf(option string, values []string, weights ...string) (grids []tuning.Grid) {
	for _, v := range values {
		grids = append(grids, tuning.Grid{Flags: []string{option, v}, Weights: weights})
	}
	return grids
}

func anchorGridsOf(option string, values []string, weights ...string) (grids []tuning.Grid) {
	for _, g := range gridsOf(option, values, weights...) {
		for _, placing := range []string{"random", "balanced"} {
			grids = append(grids, tuning.Grid{Flags: append([]string{"--anchor-method", placing}, g.Flags...), Weights: g.Weights})
		}
	}
	return grids
}

// printedScores returns the figures that a paper prints for the best of a method's settings, one for each measure.
func printedScores(set, method string, measures []measure, values ...float64) (figures []figure) {
	for i, v := range values {
		figures = append(figures, figure{set: set, method: method, measure: measures[i].title, value: v})
	}
	return figures
}

func sfufsTable() table {
	measures := []measure{{"ACC", "acc"}, {"NMI", "nmi_sqrt"}, {"Purity", "purity"}}
	dimensions, decades := []string{"10", "20", "40"}, "1e-3..1e3"
	return table{
		name:  "sfufs",
		title: "Hu, Wang, Nie et al. (SFUFS), Tables 2 to 4: accuracy, NMI and purity, and running times",
		about: "Values as in the file (`--scale none`), but the columns of MSRA25 standardized, which comes nearer to its printed " +
			"figures; means over the runs of one k-means each, with as many clusters as classes. The numbers of features are 1/4, " +
			"1/2, 3/4 and 7/8 of all: the paper uses 224 of the 256 of USPS. The grids are α (SFUFS) or γ (FUFS) by decades from 1e-3 to 1e3, with 10, 20 and 40 dimensions, on 1,000 anchors, rows at random or means of balanced clusters. " +
			"`sfufs scatter`, our constraint, is compared with the figures of SFUFS. `laplacian` and `mcfs` work on the anchor graph here, where their own papers compare all pairs of rows.",
		protocol: "sfufs",
		measures: measures,
		sets: []dataset{
			{title: "MSRA25", file: "more/msra25.parquet", features: 256, classes: 12, counts: []int{64, 128, 192, 224}, scale: "standard"},
			{title: "USPS", file: "usps.parquet", features: 256, classes: 10, counts: []int{64, 128, 192, 224}},
			{title: "MNIST", file: "mnist70k.parquet", features: 784, classes: 10, counts: []int{196, 392, 588, 686}, choiceFlags: choiceSample},
		},
		methods: []contender{
			{title: allFeatures, baseline: true},
			{title: "random", baseline: true},
			{title: "laplacian", flags: []string{"--method", "laplacian"}},
			{title: "mcfs", flags: []string{"--method", "mcfs"}, rankingPerCount: true, takesClasses: true},
			{title: "fufs", flags: []string{"--method", "fufs", "--constraint", "identity", "--anchors", "1000"}, takesClasses: true,
				grids: anchorGridsOf("--clusters", dimensions, "--gamma", decades)},
			{title: "sfufs", flags: []string{"--method", "sfufs", "--constraint", "identity", "--anchors", "1000"}, takesClasses: true,
				grids: anchorGridsOf("--clusters", dimensions, "--alpha", decades)},
			{title: "sfufs scatter (ours)", flags: []string{"--method", "sfufs", "--constraint", "scatter", "--anchors", "1000"}, takesClasses: true,
				grids: anchorGridsOf("--clusters", dimensions, "--alpha", decades)},
			{title: "graphgreedy (ours)", flags: []string{"--method", "graphgreedy"}},
		},
		references: slices.Concat(
			printedScores("MSRA25", "sfufs", measures, 59.8, 64.5, 61.2),
			printedScores("MSRA25", "sfufs scatter (ours)", measures, 59.8, 64.5, 61.2),
			printedScores("USPS", "sfufs", measures, 67.8, 62.3, 74.2),
			printedScores("USPS", "sfufs scatter (ours)", measures, 67.8, 62.3, 74.2),
			printedScores("USPS", "fufs", measures, 67.0, 61.5, 73.4),
			printedScores("MNIST", "sfufs", measures, 45.9, 38.2, 48.0),
			printedScores("MNIST", "sfufs scatter (ours)", measures, 45.9, 38.2, 48.0),
			printedScores(emnistName, "sfufs", measures, 51.4, 42.4, 55.4),
			[]figure{
				{"MNIST", allFeatures, "ACC", 784, 43.7}, {"MNIST", allFeatures, "NMI", 784, 36.4}, {"MNIST", allFeatures, "Purity", 784, 46.7},
				{emnistName, allFeatures, "ACC", 900, 46.3}, {emnistName, allFeatures, "NMI", 900, 39.8}, {emnistName, allFeatures, "Purity", 900, 52.0},
			}),
		referenceSeconds: emnistSeconds(),
		emnist:           true,
	}
}

func eufsTable() table {
	measures := []measure{{"ACC", "acc"}, {"NMI", "nmi_sqrt"}}
	counts := []int{50, 100, 150, 200, 250, 300}
	gridsFor := func(sparsity, other string) []tuning.Grid { // a larger weight of the sparsity leaves no feature
		return gridsOf("--mu", []string{"1e-6", "1e-3", "1"}, sparsity, "1e-4..1", other, "1e-4..1e2")
	}
	return table{
		name:  "eufs",
		title: "Wang, Tang, Liu (EUFS, 2015) and Wang et al. (HUFS, 2017): accuracy and NMI over the number of features",
		about: "Means over the runs of one k-means each on the values as in the file, with as many clusters as classes. The rows " +
			"of `eufs` and `hufs` are the program's default, one setting for all sets. The papers print the best of a grid: " +
			"here the weight of the sparsity by decades from 1e-4 to 1, that of the graph or tree from 1e-4 to 1e2, and μ₀ of 1e-6, " +
			"1e-3 and 1. The tree of `hufs` is of pixels, on " +
			"Prostate-GE of correlations.",
		protocol: "sfufs",
		measures: measures,
		sets: []dataset{
			{title: "COIL20", file: "coil20.parquet", features: 1024, classes: 20, counts: counts},
			{title: "warpPIE10P", file: "warppie10p.parquet", features: 2420, classes: 10, counts: counts},
			{title: "Prostate-GE", file: "prostate_ge.parquet", features: 5966, classes: 2, counts: counts},
		},
		methods: []contender{
			{title: allFeatures, baseline: true},
			{title: "random", baseline: true},
			{title: "laplacian", flags: []string{"--method", "laplacian"}},
			{title: "eufs", flags: []string{"--method", "eufs", "--scale", "unit"}, takesClasses: true, grids: gridsFor("--alpha", "--beta")},
			{title: "eufs standard", flags: []string{"--method", "eufs", "--scale", "standard"}, takesClasses: true},
			{title: "hufs", flags: []string{"--method", "hufs", "--scale", "unit"}, takesClasses: true, grids: gridsFor("--beta", "--alpha"),
				flagsOfSet: map[string][]string{"COIL20": {"--tree", "image"}, "warpPIE10P": {"--tree", "image"}, "Prostate-GE": {"--tree", "correlation"}}},
		},
		references: slices.Concat(
			printedScores("COIL20", "eufs", measures, 63.4, 77.2),
			printedScores("warpPIE10P", "eufs", measures, 46.4, 49.8),
			printedScores("Prostate-GE", "eufs", measures, 60.4, 3.4),
			printedScores("COIL20", "hufs", measures, 63.9, 76.7),
			printedScores("warpPIE10P", "hufs", measures, 42.5, 46.7)),
	}
}

func cpufsTable() table {
	return table{
		name:  "cpufs",
		title: "Chen, Guan, Li (CPUFS): accuracy and NMI over the number of pixels",
		about: "Means over the runs of one k-means each on the values as in the file, with as many clusters as classes. One " +
			"setting for all sets, the program's default.",
		protocol: "sfufs",
		measures: []measure{{"ACC", "acc"}, {"NMI", "nmi_sqrt"}},
		sets: []dataset{
			{title: "ORL", file: "orl.parquet", features: 1024, classes: 40, counts: []int{50, 100, 200, 300}},
			{title: "COIL20", file: "coil20.parquet", features: 1024, classes: 20, counts: []int{50, 100, 200, 300}},
			{title: "warpPIE10P", file: "warppie10p.parquet", features: 2420, classes: 10, counts: []int{50, 100, 200, 300}},
		},
		methods: []contender{
			{title: allFeatures, baseline: true},
			{title: "random", baseline: true},
			{title: "laplacian", flags: []string{"--method", "laplacian"}},
			{title: "mcfs", flags: []string{"--method", "mcfs"}, rankingPerCount: true, takesClasses: true},
			{title: "eufs", flags: []string{"--method", "eufs", "--scale", "unit"}, takesClasses: true},
			{title: "cpufs", flags: []string{"--method", "cpufs", "--scale", "minmax"}, takesClasses: true},
			{title: "cpufsnn", flags: []string{"--method", "cpufsnn", "--scale", "minmax"}, takesClasses: true},
		},
	}
}

// emnistName is the dataset for which the papers print running times. It has 630,000 rows of 900 pixels.
const emnistName = "E-MNIST"

func emnistSeconds() []figure {
	return []figure{
		{set: emnistName, method: "sfufs", value: 325.7},
		{set: emnistName, method: "fufs", value: 197.1},
		{set: emnistName, method: "laplacian", value: 34496},
	}
}

// EMNISTSeconds returns the running time of a method on E-MNIST, as printed in the SFUFS paper and measured on its
// authors' machine. It returns false if the paper has no time for the method.
func EMNISTSeconds(method string) (float64, bool) {
	f, ok := findFigure(emnistSeconds(), emnistName, method, "", 0)
	return f.value, ok
}

// choiceSample has settings of large sets judged by 3,000 rows. For 7 settings of 392 columns of MNIST eval then takes 5.8 s
// of CPU time, and 22.6 s with its default of 10,000 rows, which is half an hour for all grids and counts.
var choiceSample = []string{"--sample", "3000"}

func emnistSet(folder string) dataset {
	return dataset{title: emnistName, path: folder, features: 900, classes: 10, counts: []int{788}, choiceFlags: choiceSample}
}

func (t table) findSet(title string) dataset {
	for _, s := range t.sets {
		if s.title == title {
			return s
		}
	}
	return dataset{}
}

func findFigure(figures []figure, set, method, measure string, count int) (figure, bool) {
	for _, f := range figures {
		if f.set == set && f.method == method && f.measure == measure && f.count == count {
			return f, true
		}
	}
	return figure{}, false
}
