package quality

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

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

// Columns implements gen.Filler.
func (k *storedTable) Columns() []stream.Column { return k.names }

// FillColumn implements gen.Filler.
func (k *storedTable) FillColumn(j int, from int64, out []float64) { copy(out, k.values[j][from:]) }

// Class implements classedFiller for a table without classes.
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
