package schema

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sparseFeatureBytes is the memory in bytes that the name and the selection of one feature need while a Dataset is
// opened, before the memory of a pass can be planned. For a million features 450 MB were measured.
const sparseFeatureBytes = 450

// sparseRowGuess is a number of entries of a sparse row. Memory is planned for at least this number of entries in each
// row, until the first decoded block shows the real number.
const sparseRowGuess = 100

// SparseEntryBytes is the memory of an entry: 8 bytes in each of the two decoded lists, and 4 + 8 bytes in CSR form.
const SparseEntryBytes = 8 + 8 + 4 + 8

// Sparse names the two list leaves, or the map, that make sparse rows, and the number of features. The features are
// named after the values column (values[0], values[1], …), or after the map.
type Sparse struct {
	Indices, Values int // dataset leaves; equal for a map
	Features        int
	MapKeys         *catalog.MapKeys // keys of a map of texts to numbers, or names of its integers; nil for other sparse rows
	asides          []string         // see format.Leaf
}

func (s *Sparse) whyAside(feature int) string {
	if s == nil || s.asides == nil {
		return ""
	}
	return s.asides[feature]
}

// RowEntries returns the number of entries for which memory is planned in a row, or 0 for dense rows.
func (s *Sparse) RowEntries(leaves []format.Leaf) int64 {
	if s == nil {
		return 0
	}
	most := max(leaves[s.Indices].PerRow, leaves[s.Values].PerRow)
	return max(sparseRowGuess, most+most/2)
}

// OptionText returns the value of Options.Sparse, completed by the number of features: "x,500" for "x". It is "" for
// dense rows.
func (s *Sparse) OptionText(leaves []format.Leaf) string {
	switch {
	case s == nil:
		return ""
	case s.IsMap():
		return fmt.Sprintf("%s,%d", leaves[s.Values].Name, s.Features)
	}
	return fmt.Sprintf("%s,%s,%d", leaves[s.Indices].Name, leaves[s.Values].Name, s.Features)
}

// IsMap reports whether the rows are a map.
func (s *Sparse) IsMap() bool { return s.Indices == s.Values }

// DecodeIndices decodes the indices of the rows [from, to).
func (s *Sparse) DecodeIndices(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists) error {
	if s.MapKeys.HasTexts() {
		return s.MapKeys.DecodeKeyNumbers(ctx, g, leaf, from, to, dst)
	}
	if s.IsMap() {
		return g.DecodeKeys(ctx, leaf, from, to, dst)
	}
	return g.DecodeLists(ctx, leaf, from, to, dst)
}

// FindSparse evaluates Options.Sparse; it returns nil if the option is not set. If the number of features is not given,
// it makes a pass over the indices.
func FindSparse(ctx context.Context, c *catalog.Catalog, isStream bool, opt settings.Options) (*Sparse, error) {
	if opt.Sparse == "" {
		return nil, nil
	}
	parts := strings.Split(opt.Sparse, ",")
	if names := settings.TripleColumns(opt.Sparse); names != nil {
		if isStream {
			return nil, stream.Usagef("{sparse} %s: triples are read from files, not from a stream; save it to a file first", opt.Sparse)
		}
		parts = parts[2:] // opening the triples made a map of them
	}
	var spec Sparse
	leaf, err := findMapLeaf(c, parts[0])
	columns := 2
	switch {
	case err != nil:
		return nil, err
	case leaf >= 0:
		columns = 1
		spec.Indices, spec.Values = leaf, leaf
	}
	if len(parts) != columns && len(parts) != columns+1 || columns == 2 && parts[0] == parts[1] {
		return nil, stream.Usagef("{sparse} %s: want INDICES,VALUES[,FEATURES] of two list columns, MAP[,FEATURES] of a map, or ROW,INDEX,VALUE[,FEATURES] of triples", opt.Sparse)
	}
	if columns == 2 {
		if spec.Indices, err = findListLeaf(c, parts[0]); err != nil {
			return nil, err
		}
		if spec.Values, err = findListLeaf(c, parts[1]); err != nil {
			return nil, err
		}
	}
	texts := spec.IsMap() && c.Leaves[spec.Indices].TextKeys
	if keys := c.Leaves[spec.Indices].Keys; keys != nil {
		spec.MapKeys, spec.asides = &catalog.MapKeys{Names: keys}, c.Leaves[spec.Indices].Asides
	}
	switch {
	case texts && isStream:
		return nil, stream.Usagef("{sparse} %s: its keys are texts, which are numbered from all rows, and a stream can be read only once; save it to a file first", opt.Sparse)
	case texts && c.Plan != nil && c.Plan.Shard.Of > 0:
		return nil, stream.Usagef("{sparse} %s: its keys are texts, which all rows number, and a shard of a plan has not all of them; read them without shards", opt.Sparse)
	case texts || spec.MapKeys != nil:
		if texts {
			if spec.MapKeys, err = c.NumberKeys(ctx, spec.Indices, opt); err != nil {
				return nil, err
			}
		}
		spec.Features = len(spec.MapKeys.Names)
		if n := parts[len(parts)-1]; len(parts) > columns && n != strconv.Itoa(spec.Features) {
			return nil, stream.Usagef("{sparse} %s: the map has %d keys", opt.Sparse, spec.Features)
		}
	case len(parts) > columns:
		spec.Features, err = strconv.Atoi(parts[columns])
		if err != nil || spec.Features < 1 || spec.Features > catalog.MaxSparseFeatures {
			return nil, stream.Usagef("{sparse} %s: the number of features must be between 1 and %d", opt.Sparse, catalog.MaxSparseFeatures)
		}
	case isStream:
		return nil, stream.Usagef("{sparse} %s: a stream needs the number of features too: %[1]s,FEATURES", opt.Sparse)
	case c.Plan != nil && c.Plan.Shard.Of > 0: // the rows of a shard may lack the last feature
		return nil, stream.Usagef("{sparse} %s: a shard of a plan needs the number of features too: %[1]s,FEATURES", opt.Sparse)
	default:
		if spec.Features, err = countFeatures(ctx, c, &spec, opt); err != nil {
			return nil, err
		}
	}
	if need := sparseFeatureBytes * int64(spec.Features); need > opt.Memory {
		return nil, &stream.MemoryError{What: fmt.Sprintf("naming %d features of sparse rows", spec.Features), Need: need, Limit: opt.Memory}
	}
	return &spec, nil
}

func findMapLeaf(c *catalog.Catalog, name string) (int, error) {
	for i, l := range c.Leaves {
		switch {
		case l.Name != name:
		case naming.HaveSharedName(l):
			return 0, naming.ErrAmbiguous("sparse", name)
		case l.NoEntries != "":
			return 0, stream.Usagef("{sparse}: column %s cannot be sparse rows: %s", name, l.NoEntries)
		case l.Entries != "":
			return i, nil
		}
	}
	return -1, nil
}

func findListLeaf(c *catalog.Catalog, name string) (int, error) {
	var names []string
	for i, l := range c.Leaves {
		if l.Name != name {
			names = append(names, l.Name)
			continue
		}
		if naming.HaveSharedName(l) {
			return 0, naming.ErrAmbiguous("sparse", name)
		}
		// If metadata counts nulls, these may be the rows without entries.
		if !l.List || l.Why != "" && !strings.HasPrefix(l.Why, format.WhyVarying) && !l.Refused {
			return 0, stream.Usagef("{sparse}: column %s is %s, not lists of numbers", name, l.Type)
		}
		if l.Refused {
			err := stream.Dataf(c.FirstRefusal[i], "%s", l.Why)
			err.Column = name
			return 0, err
		}
		return i, nil
	}
	return 0, stream.Usagef("{sparse}: no column is named %s%s", name, suggest.DidYouMean(name, names))
}

// countFeatures returns one more than the largest index in any row. It ignores invalid indices, because the pass that
// uses them reports their position.
func countFeatures(ctx context.Context, c *catalog.Catalog, spec *Sparse, opt settings.Options) (int, error) {
	largest := -1.0
	err := c.EachIndexBatch(ctx, spec.Indices, opt, func(ctx context.Context, g format.Group, leaf int, from, to int64, rows *format.Lists) error {
		err := spec.DecodeIndices(ctx, g, leaf, from, to, rows)
		for _, x := range rows.Values {
			largest = max(largest, valueIfFinite(x, -1))
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	if largest >= catalog.MaxSparseFeatures {
		err := stream.Dataf(c.InputName(), "the largest index is %v; more than %d features are not supported", largest, catalog.MaxSparseFeatures)
		err.Column = c.Leaves[spec.Indices].Name
		return 0, err
	}
	return int(largest) + 1, nil
}

func valueIfFinite(x, fallback float64) float64 {
	if x-x == 0 {
		return x
	}
	return fallback
}
