package quality

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// dataset is a table from which features are chosen.
type dataset struct {
	name, path  string
	kind        string
	label       string // empty for lakes without classes
	made        bool   // generated
	lake        bool   // generated, with as many chosen features as there are factors
	heldOut     bool
	unranked    bool // variants are not ranked, because the table has no structure and ranks would be random
	rows        int64
	features    int
	fingerprint string
	answer      [][]string // only for a generated table: groups of features of the same factor; a right choice has one of each group
}

// missingPolicy is the policy for missing values in selections and scores.
const missingPolicy = "mean"

// findSets lists the Parquet files of the folders that have a label column, sorted by name. It adds the generated
// datasets, which it writes to the folder scratch.
func (o *options) findSets(ctx context.Context, scratch string) ([]dataset, error) {
	var sets []dataset
	for _, folder := range o.folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, &stream.DataError{Path: folder, RowGroup: -1, Row: -1, Err: err, Remedy: stream.Textf("name folders of Parquet files")}
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".parquet")
			if !ok || e.IsDir() || !o.isRequestedSet(name) {
				continue
			}
			s := dataset{name: name, path: filepath.Join(folder, e.Name())}
			if fault := o.inspectSet(ctx, &s); fault != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				o.printRemark("%s is left out: %v", s.path, fault)
				continue
			}
			sets = append(sets, s)
		}
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
	return sets, nil
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
	for _, label := range candidates {
		ds, err := chunkio.Open(ctx, []string{s.path}, chunkio.Options{Label: label, Classes: label != "", Missing: stream.MissingKeep})
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
