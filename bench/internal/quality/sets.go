package quality

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// dataset is a table from which features are chosen.
type dataset struct {
	name, path  string
	sparse      string // as in chunkio.Options
	kind        string
	label       string // empty for lakes without classes
	made        bool   // generated
	lake        bool   // a generated table of sensors; as many features are chosen as there are factors
	heldOut     bool
	unranked    bool // variants are not ranked, because the table has no structure and ranks would be random
	rows        int64
	features    int
	fingerprint string
	answer      [][]string // only for a generated table: groups of features of the same factor; a right choice has one of each group
}

// missingPolicy is the policy for missing values in selections and scores.
const missingPolicy = "mean"

// findSets lists the files of the inputs that have a label column, sorted by name in each folder. It adds the generated
// datasets, which it writes to the folder scratch.
func (o *options) findSets(ctx context.Context, scratch string) ([]dataset, error) {
	var sets []dataset
	paths, err := listFiles("sets", o.inputs, func(name string) bool { return chunkio.InputFormatByName(name) != nil })
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		s := dataset{name: nameWithoutEndings(path), path: path}
		if !o.isRequestedSet(s.name) {
			continue
		}
		if fault := o.inspectSet(ctx, &s); fault != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			o.printRemark("%s is left out: %v", s.path, fault)
			continue
		}
		sets = append(sets, s)
	}
	if o.generated {
		for _, k := range slices.Concat(madeKinds(), lakeKinds()) {
			if !o.isRequestedSet(k.name) {
				continue
			}
			s, err := k.writeSet(ctx, scratch)
			if err == nil {
				err = o.inspectSet(ctx, &s)
			}
			if err != nil {
				return nil, err
			}
			sets = append(sets, s)
		}
	}
	if o.heldOut > 0 {
		holdOut(sets, o.heldOut)
	}
	for i, s := range sets {
		if j := slices.IndexFunc(sets[:i], func(other dataset) bool { return other.name == s.name }); j >= 0 {
			return nil, stream.Usagef("quality: %s and %s have one name; results would not tell them apart", sets[j].path, s.path)
		}
	}
	return sets, o.refuseUnknownSets(sets)
}

func (o *options) refuseUnknownSets(sets []dataset) error {
	var names []string
	for _, s := range sets {
		names = append(names, s.name)
	}
	for _, v := range o.variants {
		for set := range v.lists {
			if o.isRequestedSet(set) && !slices.Contains(names, set) {
				return stream.Usagef("quality: --selections has %s for %s, and there is no such set%s; the sets are %s", v.name, set, suggest.DidYouMean(set, names), strings.Join(names, ", "))
			}
		}
	}
	return nil
}

func nameWithoutEndings(path string) string {
	name := filepath.Base(path)
	for chunkio.InputFormatByName(name) != nil {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}

func (o *options) isRequestedSet(name string) bool {
	matches := func(glob string) bool {
		ok, err := filepath.Match(glob, name)
		return ok && err == nil
	}
	return (len(o.sets) == 0 || slices.ContainsFunc(o.sets, matches)) && !slices.ContainsFunc(o.skip, matches)
}

func (o *options) inspectSet(ctx context.Context, s *dataset) error {
	candidates := []string{"label", "class"}
	switch {
	case s.lake && s.unranked:
		candidates = []string{""}
	case o.label != "" && !s.made:
		candidates = []string{o.label}
	}
	var faults []error
	s.sparse = chunkio.DefaultSparse(ctx, []string{s.path}, nil, true)
	for _, label := range candidates {
		ds, err := chunkio.Open(ctx, []string{s.path}, chunkio.Options{Sparse: s.sparse, Label: label, Classes: label != "", Missing: stream.MissingKeep})
		if err != nil {
			faults = append(faults, err)
			continue
		}
		defer ds.Close()
		if err := ds.Check(); err != nil {
			return err
		}
		s.label, s.rows, s.features = label, ds.Rows(), len(ds.Columns())
		s.kind = o.kindOf(s.name, ds.Columns())
		break
	}
	switch {
	case s.features == 0:
		return errors.Join(faults...)
	case s.features < 4 || s.rows < 8:
		return fmt.Errorf("%d rows of %d features are too few to choose from", s.rows, s.features)
	}
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	s.fingerprint = fmt.Sprintf("%x", h.Sum(nil)[:8])
	return nil
}

// featureCounts returns the number of features to choose for each percentage. For a lake this is always the number of
// factors.
func (s dataset) featureCounts(percents []float64) []int {
	var list []int
	for _, p := range percents {
		if s.lake {
			list = append(list, len(s.answer))
			continue
		}
		list = append(list, min(max(int(math.Round(p/100*float64(s.features))), 2), s.features))
	}
	return list
}

// countCovered returns the number of groups of the answer that contain a chosen feature. A factor counts once, even if
// several of its sensors are chosen.
func (s dataset) countCovered(chosen []string) (hit int) {
	for _, group := range s.answer {
		if slices.ContainsFunc(group, func(name string) bool { return slices.Contains(chosen, name) }) {
			hit++
		}
	}
	return hit
}

// writeHalves writes random halves of a dataset's rows and returns their paths. The agreement of selections from these
// halves is measured. The two halves of a pair have no rows in common, because common rows alone could make choices
// agree.
func (o *options) writeHalves(ctx context.Context, s dataset, scratch string) ([]string, error) {
	opt := chunkio.Options{Sparse: s.sparse, Label: s.label, Missing: stream.MissingKeep, Seed: o.seed, Threads: o.threads}
	rows := s.rows
	if rows > o.rows {
		opt.Sample, rows = o.rows, o.rows
	}
	ds, err := chunkio.Open(ctx, []string{s.path}, opt)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	var paths []string
	for pair := range o.halves / 2 {
		first := make([]bool, rows)
		for i, r := range rand.New(rand.NewPCG(o.seed, uint64(pair))).Perm(int(rows)) {
			first[r] = i < int(rows+1)/2
		}
		for half := range 2 {
			path := filepath.Join(scratch, fmt.Sprintf("%s-%d-%d.parquet", s.name, pair, half))
			src := filteredRows{Source: ds, wantsRow: func(row int) bool { return first[row] == (half == 0) }}
			if err := chunkio.WriteParquet(ctx, path, src, chunkio.WriteOptions{Threads: o.threads}); err != nil {
				return nil, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// filteredRows is a source with some rows of another source, in the same order: the rows whose numbers wantsRow
// accepts.
type filteredRows struct {
	stream.Source
	wantsRow func(row int) bool
}

// Rows implements stream.Source. It returns -1, because the number of rows is unknown before reading.
func (s filteredRows) Rows() int64 { return -1 }

// Cuts implements stream.Source.
func (s filteredRows) Cuts() []int64 { return nil }

// Chunks implements stream.Source. It ignores the range and returns all rows.
func (s filteredRows) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		read, start := 0, int64(0)
		for c, err := range s.Source.Chunks(ctx, stream.Range{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			var rows []int
			for i := range c.Rows {
				if s.wantsRow(read + i) {
					rows = append(rows, i)
				}
			}
			read += c.Rows
			if len(rows) == 0 {
				continue
			}
			out := &stream.Chunk{Start: start, Block: len(rows), Rows: len(rows), Cols: c.Cols, Stride: len(rows),
				Data: make([]float64, len(rows)*c.Cols), Missing: c.Missing}
			copyRows(out, c, rows)
			start += int64(len(rows))
			if !yield(out, nil) {
				return
			}
		}
	}
}

// copyRows copies some rows of a chunk to the rows of out, which is dense and has zeros.
func copyRows(out, from *stream.Chunk, rows []int) {
	if sparse := from.Sparse; sparse != nil {
		for at, i := range rows {
			for e := sparse.RowPtr[i]; e < sparse.RowPtr[i+1]; e++ {
				out.Col(int(sparse.Index[e]))[at] = sparse.Value[e]
			}
		}
		return
	}
	for j := range from.Cols {
		for at, i := range rows {
			out.Col(j)[at] = from.Col(j)[i]
		}
	}
}

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

func isPublicKind(kind string) bool { return kind != kindGenerated && kind != kindLakes }

func listKinds(sets []dataset) (kinds []string) {
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
func holdOut(datasets []dataset, seed uint64) {
	larger := false
	for _, kind := range listKinds(datasets) {
		if !isPublicKind(kind) {
			continue
		}
		var ofKind []*dataset
		for i := range datasets {
			if datasets[i].kind == kind {
				ofKind = append(ofKind, &datasets[i])
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
