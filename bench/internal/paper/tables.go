package paper

// table describes a table of a paper on which ufs-stream is based: the methods, the datasets, and the figures to
// compare with. For a new method add a line to methods, for a new figure a line to references.
type table struct {
	name             string // name of the table in --tables
	title            string
	about            string // text that explains the experiment
	protocol         string // protocol of eval
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
	features    int
	classes     int
	counts      []int
}

// contender is a way to choose features, such as a method.
type contender struct {
	title           string
	baseline        bool     // a baseline that eval computes without a selection file, and calls by this title
	rankingPerCount bool     // the ranking depends on the number of features, so that select must run for every number
	takesClasses    bool     // --clusters is set to the number of classes, as in the paper of the method
	flags           []string // flags of select
}

// allFeatures names the baseline that uses all features.
const allFeatures = "all"

// figure is a number from another source to compare with, in per cent or seconds.
type figure struct {
	set, method, measure string
	count                int
	value                float64
	source               source
}

// source identifies who measured a figure. The papers' own scores were not available, only some of their running times.
type source string

const (
	independent source = "a" // an independent implementation of the paper
	trial       source = "b" // an experiment before this program existed; rounded to whole points
	printed     source = "c" // printed by the paper
)

func sourceNotes() map[source]string {
	return map[source]string{
		independent: "an independent implementation of the paper's method, under the same protocol; not the paper's own figure",
		trial:       "an experiment made before this program was written, rounded to whole points; not a paper's figure",
		printed:     "printed by the paper, on its machine and its data",
	}
}

func allTables() []table {
	return []table{greedyTable(), sfufsTable(), eufsTable(), cpufsTable()}
}

func greedyTable() table {
	t := table{
		name:  "greedy",
		title: "Farahat, Ghodsi, Kamel (2013), Table 2: NMI of k-means on the selected features",
		about: "Values as in the file (`--scale none`), 4, 7 and 10 % of the features. A run is the best of 10 " +
			"restarts of k-means by inertia, with as many clusters as classes; mean and standard deviation are over " +
			"the runs. NMI is divided by the geometric mean of the entropies.",
		protocol: "greedy",
		measures: []measure{{"NMI", "nmi_sqrt"}},
		sets: []dataset{
			{"ORL", "orl.parquet", 1024, 40, []int{41, 72, 102}},
			{"COIL20", "coil20.parquet", 1024, 20, []int{41, 72, 102}},
			{"Isolet", "isolet.parquet", 617, 26, []int{25, 43, 62}},
			{"USPS", "usps.parquet", 256, 10, []int{10, 18, 26}},
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
	for set, values := range map[string][3]float64{
		"ORL": {70.9, 71.7, 71.2}, "COIL20": {75.6, 75.8, 76.1}, "Isolet": {63.4, 68.2, 70.5},
	} {
		for i, k := range t.findSet(set).counts {
			t.references = append(t.references, figure{set, "greedy", "NMI", k, values[i], independent})
		}
	}
	for set, values := range map[string][2]float64{ // scores of all features, and of graphgreedy's choice of 10 %
		"ORL": {72, 76}, "COIL20": {76, 77}, "Isolet": {77, 77}, "USPS": {63, 59},
	} {
		counts := t.findSet(set).counts
		t.references = append(t.references,
			figure{set, allFeatures, "NMI", t.findSet(set).features, values[0], trial},
			figure{set, "graphgreedy (ours)", "NMI", counts[2], values[1], trial})
	}
	return t
}

func sfufsTable() table {
	return table{
		name:  "sfufs",
		title: "Hu, Wang, Nie et al. (SFUFS), Tables 2 to 4: accuracy, NMI and purity, and running times",
		about: "Values as in the file (`--scale none`), means over the runs of one k-means each, with as many clusters " +
			"as classes. 224 of the 256 features of USPS; the other sets at the same share of 7/8, because the paper's " +
			"own counts could not be had here. `laplacian` and `mcfs` work on the anchor graph here, where their own " +
			"papers compare all pairs of rows.",
		protocol: "sfufs",
		measures: []measure{{"ACC", "acc"}, {"NMI", "nmi_sqrt"}, {"Purity", "purity"}},
		sets: []dataset{
			{"USPS", "usps.parquet", 256, 10, []int{224}},
			{"MNIST", "mnist70k.parquet", 784, 10, []int{686}},
		},
		methods: []contender{
			{title: allFeatures, baseline: true},
			{title: "random", baseline: true},
			{title: "laplacian", flags: []string{"--method", "laplacian"}},
			{title: "mcfs", flags: []string{"--method", "mcfs"}, rankingPerCount: true, takesClasses: true},
			{title: "fufs", flags: []string{"--method", "fufs", "--constraint", "identity"}, takesClasses: true},
			{title: "sfufs", flags: []string{"--method", "sfufs", "--constraint", "identity"}, takesClasses: true},
			{title: "sfufs scatter (ours)", flags: []string{"--method", "sfufs", "--constraint", "scatter"}, takesClasses: true},
			{title: "graphgreedy (ours)", flags: []string{"--method", "graphgreedy"}},
		},
		references: []figure{
			{"USPS", "sfufs", "ACC", 224, 64.9, independent},
			{"USPS", "sfufs", "NMI", 224, 61.9, independent},
			{"USPS", "sfufs", "Purity", 224, 72.5, independent},
		},
		referenceSeconds: emnistSeconds(),
		emnist:           true,
	}
}

// eufsTable has datasets of the papers on EUFS and HUFS. The figures of these papers are mentioned in the text but not
// compared, because they are the best over all numbers of features and over a grid of settings, chosen by the labels.
func eufsTable() table {
	return table{
		name:  "eufs",
		title: "Wang, Tang, Liu (EUFS, 2015) and Wang et al. (HUFS, 2017): accuracy and NMI over the number of features",
		about: "Means over the runs of one k-means each on the values as in the file, with as many clusters as classes. One " +
			"setting for all sets, the program's default, chosen without looking at these labels beyond the experiments that " +
			"set the defaults. The papers print the best of a grid, tuned by the labels (ACC/NMI): EUFS COIL20 63.4/77.2, " +
			"Prostate-GE 60.4/3.4; HUFS COIL20 63.9/76.7, warpPIE10P 42.5/46.7. An independent implementation reached, tuned " +
			"likewise, EUFS COIL20 59.4/74.7, Prostate-GE 80 to 84/28 to 38, warpPIE10P 48 to 50/56 to 58; HUFS COIL20 " +
			"63.9/78.7, warpPIE10P 48.6/57.8.",
		protocol: "sfufs",
		measures: []measure{{"ACC", "acc"}, {"NMI", "nmi_sqrt"}},
		sets: []dataset{
			{"COIL20", "coil20.parquet", 1024, 20, []int{50, 100, 200, 300}},
			{"warpPIE10P", "warppie10p.parquet", 2420, 10, []int{50, 100, 200, 300}},
			{"Prostate-GE", "prostate_ge.parquet", 5966, 2, []int{50, 100, 200, 300}},
		},
		methods: []contender{
			{title: allFeatures, baseline: true},
			{title: "random", baseline: true},
			{title: "laplacian", flags: []string{"--method", "laplacian"}},
			{title: "eufs", flags: []string{"--method", "eufs", "--scale", "unit"}, takesClasses: true},
			{title: "eufs standard", flags: []string{"--method", "eufs", "--scale", "standard"}, takesClasses: true},
			{title: "hufs", flags: []string{"--method", "hufs", "--scale", "unit"}, takesClasses: true},
		},
	}
}

func cpufsTable() table {
	return table{
		name:  "cpufs",
		title: "Chen, Guan, Li (CPUFS): accuracy and NMI over the number of pixels",
		about: "Means over the runs of one k-means each on the values as in the file, with as many clusters as classes. One " +
			"setting for all sets, the program's default. An independent implementation came to NMI, over a grid of weights, " +
			"ORL 71.4 to 73.4 (CPUFS) and 72.1 to 74.3 (CPUFSnn) beside 73.7 for all features, COIL20 74.5 and 74.7 beside 75.8: " +
			"the paper's claim of beating all features did not show there either.",
		protocol: "sfufs",
		measures: []measure{{"ACC", "acc"}, {"NMI", "nmi_sqrt"}},
		sets: []dataset{
			{"ORL", "orl.parquet", 1024, 40, []int{50, 100, 200, 300}},
			{"COIL20", "coil20.parquet", 1024, 20, []int{50, 100, 200, 300}},
			{"warpPIE10P", "warppie10p.parquet", 2420, 10, []int{50, 100, 200, 300}},
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
		{set: emnistName, method: "sfufs", value: 325.7, source: printed},
		{set: emnistName, method: "fufs", value: 197.1, source: printed},
		{set: emnistName, method: "laplacian", value: 34496, source: printed},
	}
}

// EMNISTSeconds returns the running time of a method on E-MNIST, as printed in the SFUFS paper and measured on its
// authors' machine. It returns false if the paper has no time for the method.
func EMNISTSeconds(method string) (float64, bool) {
	f, ok := findFigure(emnistSeconds(), emnistName, method, "", 0)
	return f.value, ok
}

func emnistSet(folder string) dataset {
	return dataset{emnistName, folder, 900, 10, []int{788}}
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
