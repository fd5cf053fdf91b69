package quality

import (
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Kinds of datasets. The result tables have a mean for each kind.
const (
	kindPictures  = "pictures"
	kindText      = "text"
	kindSensors   = "sensors"
	kindTables    = "tables"
	kindGenes     = "genes"
	kindOther     = "other"
	kindGenerated = "generated"
	kindLakes     = "lakes"
)

// kindOrder is the order of the kinds in result tables. Kinds that only a file of kinds names come last.
var kindOrder = []string{kindPictures, kindText, kindSensors, kindTables, kindGenes, kindOther, kindGenerated, kindLakes}

// knownKinds maps kinds to globs of lower-case names of datasets. It has the datasets that the project is tested with,
// and other common datasets.
var knownKinds = map[string]string{
	kindPictures: "coil20 coil100 orl* usps mnist* emnist* fashion* yale* umist jaffe msra25 warp* pix* pie* binalpha semeion optdigits pendigits gisette",
	kindText:     "basehock* pcmac relathe 20news* newsgroups* reuters* bbc* citeseer cora webkb articles tdt2* classic* wikipedia* k1b re0 re1 tr??",
	kindSensors: "isolet libras satimage sonar ionosphere vowel acsf1 osuleaf gunpoint* arrowhead gas_* har har_* ecg* beef coffee trace cbf " +
		"lightning? facefour* swedishleaf adiac plane car synthetic_control landsat*",
	kindTables: "messy mfeat musk? dermatology fontaine wine wdbc segment* dna splice glass ecoli yeast zoo vehicle breast* heart* iris letter " +
		"msrcv1 leaves100 handwritten* caltech* spambase credit* seeds",
	kindGenes: "prostate* tox* allaml* lymphoma* khan su sorlie sc_* leukemia* colon* lung* glioma* gli_* gla* smk* carcinom* nci* cll* arcene srbct " +
		"adenoma alon borovecki burczynski chiaretti chin chowdary christensen golub gordon gravier nakayama pomeroy shipp singh subramanian " +
		"tian west yeoh brain* dlbcl* ovarian* tumors* gds*",
	kindGenerated: "made-* madelon waveform* twonorm ringnorm",
	kindLakes:     "lake-*",
}

func readKinds(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &stream.DataError{Path: path, RowGroup: -1, Row: -1, Err: err, Remedy: stream.Textf("name a file of lines name,kind")}
	}
	defer f.Close()
	lines := csv.NewReader(f)
	lines.FieldsPerRecord, lines.TrimLeadingSpace = 2, true
	rows, err := lines.ReadAll()
	if err != nil {
		return nil, &stream.DataError{Path: path, RowGroup: -1, Row: -1, Err: err, Remedy: stream.Textf("write a line name,kind for every set")}
	}
	kinds := make(map[string]string)
	for _, row := range rows {
		kinds[row[0]] = row[1]
	}
	return kinds, nil
}

// kindOf returns the kind of a dataset, from the file of kinds or by its name. If the columns are pixels, the kind is
// pictures.
func (o *options) kindOf(name string, columns []stream.Column) string {
	if kind, ok := o.namedKinds[name]; ok {
		return kind
	}
	for _, kind := range kindOrder {
		for _, glob := range strings.Fields(knownKinds[kind]) {
			if ok, err := path.Match(glob, strings.ToLower(name)); ok && err == nil {
				return kind
			}
		}
	}
	if len(columns) > 0 && strings.HasPrefix(columns[0].Name, "px_") {
		return kindPictures
	}
	return kindOther
}

func isPublic(kind string) bool { return kind != kindGenerated && kind != kindLakes }

func kindsOf(sets []dataset) (kinds []string) {
	for _, s := range sets {
		kinds = append(kinds, s.kind)
	}
	place := func(kind string) int {
		if i := slices.Index(kindOrder, kind); i >= 0 {
			return i
		}
		return len(kindOrder)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return slices.Compact(kinds)
}

// holdOut marks half of the public datasets of every kind as held out. The datasets are sorted by hashes of seed and
// name, so that a new dataset changes little. If a kind has an odd number of datasets, the larger half is held out for
// every second such kind.
func holdOut(sets []dataset, seed uint64) {
	larger := false
	for _, kind := range kindsOf(sets) {
		if !isPublic(kind) {
			continue
		}
		var ofKind []*dataset
		for i := range sets {
			if sets[i].kind == kind {
				ofKind = append(ofKind, &sets[i])
			}
		}
		hash := func(s *dataset) string {
			return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, s.name)))
		}
		slices.SortFunc(ofKind, func(a, b *dataset) int { return cmp.Compare(hash(a), hash(b)) })
		half := len(ofKind) / 2
		if len(ofKind)%2 == 1 {
			if larger {
				half++
			}
			larger = !larger
		}
		for _, s := range ofKind[:half] {
			s.heldOut = true
		}
	}
}
