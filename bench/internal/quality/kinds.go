package quality

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

func madeKinds() []madeKind {
	return []madeKind{
		{name: "made-planted", about: "factors that follow the classes, each in redundant columns, among mixtures and noise in units of their own",
			rows: 1000, make: func() classedFiller {
				return plantedSet{planted.New(planted.Options{Rows: 1000, Columns: 150, Classes: 8})}
			}},
		{name: "made-nuisance", about: "8 factors of the classes in 5 columns each, beside 3 directions of 4 times the variance in 15 columns each that tell nothing",
			rows: 1000, make: makeNuisanceTable},
		{name: "made-copies", about: "6 factors of the classes in 60, 30, 15, 8, 4 and 2 redundant columns",
			rows: 1000, make: makeCopiesTable},
		{name: "made-noise", about: "10 columns of the classes among 390 of noise of the same variance",
			rows: 800, make: func() classedFiller { return makeFewColumnsTable(3, 10, 390, 5, 0.8) }},
		{name: "made-few", about: "clusters in 30 columns of 200; the others are mixtures of 20 factors that tell nothing",
			rows: 800, make: makeFewAmongFactorsTable},
		{name: "made-wide", about: "130 rows of 2,400 columns: 5 smooth directions rule, as light does in faces; the classes show in patches",
			rows: 130, make: makeWideTable},
		{name: "made-words", about: "counts of 1,200 words, most of them 0; 5 topics have 40 words each",
			rows: 1000, make: makeWordCountsTable},
		{name: "made-nothing", about: "noise, and classes by chance: there is nothing to find, so that it takes no part in ranks and means",
			rows: 500, unranked: true, make: func() classedFiller { return makeFewColumnsTable(8, 0, 150, 5, 0) }},
	}
}

// probeKind returns a small table on which findPerCountVariants runs the variants. Its columns are pixels, because some
// methods accept only pixels.
func probeKind() madeKind {
	return madeKind{name: "probe", rows: 200, make: func() classedFiller {
		const width = 8
		t := makeFewColumnsTable(9, 12, 36, 4, 0.7)
		for j := range t.names {
			t.names[j].Name = fmt.Sprintf("px_%d_%d", j/width, j%width)
		}
		return t
	}}
}

// plantedSet is a table of package planted.
type plantedSet struct{ *planted.Table }

func (p plantedSet) answerGroups() (groups [][]string) {
	for _, g := range p.Answer().Groups {
		var names []string
		for _, j := range g {
			names = append(names, p.Columns()[j].Name)
		}
		groups = append(groups, names)
	}
	return groups
}

func (t *madeTable) addFactorColumns(count, group, factor int, weight, noise float64) {
	for range count {
		t.columns = append(t.columns, madeColumn{group: group, terms: []madeTerm{{factor, weight}}, noise: noise})
	}
}

func (t *madeTable) addNoiseColumns(count int) {
	for range count {
		t.columns = append(t.columns, madeColumn{noise: 1})
	}
}

func makeNuisanceTable() classedFiller {
	t := &madeTable{seed: 2, classes: 8}
	for f := range 8 {
		t.factors = append(t.factors, madeFactor{share: 0.85})
		t.addFactorColumns(5, f+1, f, 0.95, 0.3)
	}
	for f := range 3 {
		t.factors = append(t.factors, madeFactor{})
		t.addFactorColumns(15, 0, 8+f, 1.9, 0.6)
	}
	t.addNoiseColumns(115)
	return t.shuffleAndName()
}

func makeCopiesTable() classedFiller {
	t := &madeTable{seed: 4, classes: 6}
	for f, count := range []int{60, 30, 15, 8, 4, 2} {
		t.factors = append(t.factors, madeFactor{share: 0.85})
		t.addFactorColumns(count, f+1, f, 0.97, 0.25)
	}
	t.addNoiseColumns(41)
	return t.shuffleAndName()
}

func makeFewColumnsTable(seed uint64, informative, noise, classes int, classShare float64) *madeTable {
	t := &madeTable{seed: seed, classes: classes}
	for f := range informative {
		t.factors = append(t.factors, madeFactor{share: classShare})
		t.addFactorColumns(1, f+1, f, 1, 0)
	}
	t.addNoiseColumns(noise)
	return t.shuffleAndName()
}

func makeFewAmongFactorsTable() classedFiller {
	t := &madeTable{seed: 5, classes: 6}
	for f := range 30 {
		t.factors = append(t.factors, madeFactor{share: 0.95})
		t.addFactorColumns(1, f+1, f, 1, 0)
	}
	for range 20 {
		t.factors = append(t.factors, madeFactor{})
	}
	for j := range 170 {
		c := madeColumn{noise: 0.5}
		for n := range 3 {
			weight := t.newSeries(madeOrder + 1).Normal(int64(3*j + n))
			c.terms = append(c.terms, madeTerm{30 + int(t.newSeries(madeOrder+2).Bits(int64(3*j+n))%20), weight / 2})
		}
		t.columns = append(t.columns, c)
	}
	return t.shuffleAndName()
}

// makeWideTable makes images of 60 × 40 pixels. Smooth waves of light extend over all pixels, and 9 patches of 9 × 9
// pixels depend on the class.
func makeWideTable() classedFiller {
	const height, width, waves, patches, side = 60, 40, 5, 9, 9
	t := &madeTable{seed: 6, classes: 10}
	for range waves {
		t.factors = append(t.factors, madeFactor{})
	}
	for range patches {
		t.factors = append(t.factors, madeFactor{share: 0.9})
	}
	for r := range height {
		for c := range width {
			column := madeColumn{noise: 0.3}
			for w := range waves {
				phase := float64(w+1) * (float64(r)/height + float64(w%3)*float64(c)/width)
				column.terms = append(column.terms, madeTerm{w, 0.8 * math.Cos(math.Pi*phase)})
			}
			for p := range patches {
				top, left := 4+18*(p/3), 3+13*(p%3)
				if r >= top && r < top+side && c >= left && c < left+side {
					column.terms, column.group = append(column.terms, madeTerm{waves + p, 1.2}), p+1
				}
			}
			t.columns = append(t.columns, column)
		}
	}
	return t.shuffleAndName()
}

// makeWordCountsTable makes word counts whose frequencies follow Zipf's law. Each topic belongs to a class, in which
// its words are six times as frequent, so that they indicate the class.
func makeWordCountsTable() classedFiller {
	t := &madeTable{seed: 7, classes: 5}
	for j := range 1200 {
		common := min(0.15, 3/float64(j+10))
		c := madeColumn{chance: make([]float64, t.classes)}
		topic := -1
		if j%6 == 3 {
			topic = j / 6 % t.classes
			c.group = topic + 1
		}
		for class := range c.chance {
			if c.chance[class] = common; class == topic {
				c.chance[class] = min(6*common, 0.5)
			}
		}
		t.columns = append(t.columns, c)
	}
	return t.shuffleAndName()
}

// lakeKinds returns generated tables of sensors, several of which measure the same factor. A method chooses from each
// of them twice: as many columns as there are factors, and as many columns as it decides itself.
func lakeKinds() (kinds []madeKind) {
	const rows = 2000
	for _, factors := range []int{3, 12, 40} {
		for _, apart := range []bool{false, true} {
			for _, clusters := range []bool{false, true} {
				name, about := fmt.Sprintf("lake-%d-alike", factors), "in one unit"
				if apart {
					name, about = fmt.Sprintf("lake-%d-apart", factors), "in units of their own"
				}
				if clusters {
					name, about = name+"-clusters", about+", with clusters on top"
				}
				kinds = append(kinds, madeKind{
					name: name, rows: rows, lake: true, unranked: !clusters,
					about: fmt.Sprintf("%d factors in 3 to 9 sensors each among noise, %s; a flag that 2 %% of the rows have by chance, and a coin", factors, about),
					make:  func() classedFiller { return makeLake(factors, apart, clusters) },
				})
			}
		}
	}
	return append(kinds,
		madeKind{name: "lake-demo", rows: 20_000, lake: true, unranked: true, about: "the table of the command demo",
			make: func() classedFiller { return plantedSet{planted.New(planted.Options{})} }},
		madeKind{name: "lake-telemetry", rows: 20_000, lake: true, unranked: true,
			about: "the measurements of demo --telemetry, without what its option --auto-exclude leaves out",
			make:  func() classedFiller { return makeTelemetrySet() }})
}

// makeLake makes sensors such that sensors of the same factor have a correlation of 0.95. If the parameter apart is
// set, the sensors differ in unit and mean. If clusters is set, each factor depends on the class of a row, of which
// there are 4. The classes explain a share of the factor's variance that falls with the number of factors, so that the
// distances between classes do not depend on this number.
func makeLake(factors int, apart, clusters bool) *madeTable {
	t := &madeTable{seed: uint64(100 + factors), classes: 4}
	for f := range factors {
		var factor madeFactor
		if clusters {
			factor = madeFactor{share: 12 / float64(12+factors), split: 1 + f%3}
		}
		t.factors = append(t.factors, factor)
		t.addFactorColumns(3+f%7, f+1, f, 0.975, 0.222)
	}
	t.addNoiseColumns(20 + factors/2)
	if apart {
		for j := range t.columns {
			at := int64(j)
			t.columns[j].unit = math.Pow(10, float64(t.newSeries(madeOrder+1).Bits(at)%6)-2) // 0.01 to 1,000
			t.columns[j].offset = 3 * t.columns[j].unit * t.newSeries(madeOrder+2).Normal(at)
		}
	}
	t.columns = append(t.columns, madeColumn{flag: 0.02}, madeColumn{flag: 0.5})
	return t.shuffleAndName()
}

// storedTable is a table with all its values in memory.
type storedTable struct {
	names  []stream.Column
	values [][]float64
	groups [][]string
}

// Columns implements gen.Filler. It returns the columns of the table.
func (k *storedTable) Columns() []stream.Column { return k.names }

// FillColumn implements gen.Filler. It copies the values of column j from row `from` on to out.
func (k *storedTable) FillColumn(j int, from int64, out []float64) { copy(out, k.values[j][from:]) }

// Class implements classedFiller for a table without classes: it returns 0 for every row.
func (k *storedTable) Class(int64) int { return 0 }

func (k *storedTable) answerGroups() [][]string { return k.groups }

func makeTelemetrySet() *storedTable {
	// The first two columns are missing in most rows, and the last one reveals the label.
	excluded := []string{"alarm_code", "lab_sample", "churn_score_prev_model"}
	k, source := new(storedTable), planted.Telemetry{}
	for i := range source.Folders() {
		at := 0
		for _, c := range source.MakeFile(i) {
			values, ok := c.Values.([]float64)
			if !ok || slices.Contains(excluded, c.Name) {
				continue
			}
			if i == 0 {
				k.names, k.values = append(k.names, stream.Column{Name: c.Name, Type: "float"}), append(k.values, nil)
			}
			k.values[at] = append(k.values[at], values...)
			at++
		}
	}
	for _, factor := range source.Factors() {
		var showing []string // columns that show the factor: also the copy of a sensor, and the sum of two sensors
		for _, c := range k.names {
			if strings.HasPrefix(c.Name, factor+"_") || factor == "pump_flow" && c.Name == "flow_total" {
				showing = append(showing, c.Name)
			}
		}
		k.groups = append(k.groups, showing)
	}
	return k
}
