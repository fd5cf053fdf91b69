package chunkio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxSparseFeatures bounds the number of features of sparse rows: a larger number more likely means that the wrong
// column is used for the indices.
const maxSparseFeatures = 1 << 24

// sparseFeatureBytes is the memory in bytes that the name and the selection of one feature need while a Dataset is
// opened, before the memory of a pass can be planned. For a million features 450 MB were measured.
const sparseFeatureBytes = 450

// sparseRowGuess is a number of entries of a sparse row. Memory is planned for at least this number of entries in each
// row, until the first decoded block shows the real number.
const sparseRowGuess = 100

// sparseEntryBytes is the memory of an entry: 8 bytes in each of the two decoded lists, and 4 + 8 bytes in CSR form.
const sparseEntryBytes = 8 + 8 + 4 + 8

// sparseSpec names the two list leaves, or the map, that make sparse rows, and the number of features. The features are
// named after the values column (values[0], values[1], …), or after the map.
type sparseSpec struct {
	indices, values int // dataset leaves; equal for a map
	features        int
	mapKeys         *mapKeys // keys of a map of texts to numbers; nil for other sparse rows
}

// RowEntries returns the number of entries for which memory is planned in a sparse row, or 0 for dense rows. It is one
// and a half times the average of the densest row group in the metadata, because a block may be denser than its row
// group, but at least 100.
func (d *Dataset) RowEntries() int64 {
	if d.sparse == nil {
		return 0
	}
	most := max(d.catalog.leaves[d.sparse.indices].PerRow, d.catalog.leaves[d.sparse.values].PerRow)
	return max(sparseRowGuess, most+most/2)
}

func (s *sparseSpec) isMap() bool { return s.indices == s.values }

func (s *sparseSpec) decodeIndices(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists) error {
	if s.mapKeys != nil {
		return s.mapKeys.decodeKeyNumbers(ctx, g, leaf, from, to, dst)
	}
	if s.isMap() {
		return g.DecodeKeys(ctx, leaf, from, to, dst)
	}
	return g.DecodeLists(ctx, leaf, from, to, dst)
}

// findSparse evaluates Options.Sparse; it returns nil if the option is not set. If the number of features is not given,
// it makes a pass over the indices.
func findSparse(ctx context.Context, c *catalog, p *pipe, opt Options) (*sparseSpec, error) {
	if opt.Sparse == "" {
		return nil, nil
	}
	parts := strings.Split(opt.Sparse, ",")
	if names := tripleColumns(opt.Sparse); names != nil {
		if p != nil {
			return nil, stream.Usagef("{sparse} %s: triples are read from files, not from a stream; save it to a file first", opt.Sparse)
		}
		parts = parts[2:] // opening the triples made a map of them
	}
	var spec sparseSpec
	leaf, err := c.findMapLeaf(parts[0])
	columns := 2
	switch {
	case err != nil:
		return nil, err
	case leaf >= 0:
		columns = 1
		spec.indices, spec.values = leaf, leaf
	}
	if len(parts) != columns && len(parts) != columns+1 || columns == 2 && parts[0] == parts[1] {
		return nil, stream.Usagef("{sparse} %s: want INDICES,VALUES[,FEATURES] of two list columns, MAP[,FEATURES] of a map, or ROW,INDEX,VALUE[,FEATURES] of triples", opt.Sparse)
	}
	if columns == 2 {
		if spec.indices, err = c.findListLeaf(parts[0]); err != nil {
			return nil, err
		}
		if spec.values, err = c.findListLeaf(parts[1]); err != nil {
			return nil, err
		}
	}
	texts := spec.isMap() && c.leaves[spec.indices].TextKeys
	switch {
	case texts && p != nil:
		return nil, stream.Usagef("{sparse} %s: its keys are texts, which are numbered from all rows, and a stream can be read only once; save it to a file first", opt.Sparse)
	case texts && c.plan != nil && c.plan.shard.Of > 0:
		return nil, stream.Usagef("{sparse} %s: its keys are texts, which all rows number, and a shard of a plan has not all of them; read them without shards", opt.Sparse)
	case texts:
		if spec.mapKeys, err = c.numberKeys(ctx, &spec, opt); err != nil {
			return nil, err
		}
		spec.features = len(spec.mapKeys.names)
		if n := parts[len(parts)-1]; len(parts) > columns && n != strconv.Itoa(spec.features) {
			return nil, stream.Usagef("{sparse} %s: the map has %d keys", opt.Sparse, spec.features)
		}
	case len(parts) > columns:
		spec.features, err = strconv.Atoi(parts[columns])
		if err != nil || spec.features < 1 || spec.features > maxSparseFeatures {
			return nil, stream.Usagef("{sparse} %s: the number of features must be between 1 and %d", opt.Sparse, maxSparseFeatures)
		}
	case p != nil:
		return nil, stream.Usagef("{sparse} %s: a stream needs the number of features too: %[1]s,FEATURES", opt.Sparse)
	case c.plan != nil && c.plan.shard.Of > 0: // the rows of a shard may lack the last feature
		return nil, stream.Usagef("{sparse} %s: a shard of a plan needs the number of features too: %[1]s,FEATURES", opt.Sparse)
	default:
		if spec.features, err = c.countFeatures(ctx, &spec, opt); err != nil {
			return nil, err
		}
	}
	if need := sparseFeatureBytes * int64(spec.features); need > opt.Memory {
		return nil, &stream.MemoryError{What: fmt.Sprintf("naming %d features of sparse rows", spec.features), Need: need, Limit: opt.Memory}
	}
	return &spec, nil
}

func (c *catalog) findMapLeaf(name string) (int, error) {
	for i, l := range c.leaves {
		switch {
		case l.Name != name:
		case haveSharedName(l):
			return 0, errAmbiguous("sparse", name)
		case l.NoEntries != "":
			return 0, stream.Usagef("{sparse}: column %s cannot be sparse rows: %s", name, l.NoEntries)
		case l.Entries != "":
			return i, nil
		}
	}
	return -1, nil
}

func (c *catalog) findListLeaf(name string) (int, error) {
	var names []string
	for i, l := range c.leaves {
		if l.Name != name {
			names = append(names, l.Name)
			continue
		}
		if haveSharedName(l) {
			return 0, errAmbiguous("sparse", name)
		}
		// If metadata counts nulls, these may be the rows without entries.
		if !l.List || l.Why != "" && !strings.HasPrefix(l.Why, format.WhyVarying) && !l.Refused {
			return 0, stream.Usagef("{sparse}: column %s is %s, not lists of numbers", name, l.Type)
		}
		if l.Refused {
			err := stream.Dataf(c.firstRefusal[i], "%s", l.Why)
			err.Column = name
			return 0, err
		}
		return i, nil
	}
	return 0, stream.Usagef("{sparse}: no column is named %s%s", name, suggest.DidYouMean(name, names))
}

// countFeatures returns one more than the largest index in any row. It ignores invalid indices, because the pass that
// uses them reports their position.
func (c *catalog) countFeatures(ctx context.Context, spec *sparseSpec, opt Options) (int, error) {
	largest := -1.0
	err := c.eachIndexBatch(ctx, spec, opt, func(ctx context.Context, g format.Group, leaf int, from, to int64, rows *format.Lists) error {
		err := spec.decodeIndices(ctx, g, leaf, from, to, rows)
		for _, x := range rows.Values {
			largest = max(largest, finiteOrDefault(x, -1))
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	if largest >= maxSparseFeatures {
		err := stream.Dataf(c.inputName(), "the largest index is %v; more than %d features are not supported", largest, maxSparseFeatures)
		err.Column = c.leaves[spec.indices].Name
		return 0, err
	}
	return int(largest) + 1, nil
}

// eachIndexBatch calls f for batches of rows of the leaf with the indices of sparse rows.
func (c *catalog) eachIndexBatch(ctx context.Context, spec *sparseSpec, opt Options, f func(ctx context.Context, g format.Group, leaf int, from, to int64, rows *format.Lists) error) error {
	const rowsAtOnce = 8192
	var rows format.Lists
	ahead := newFetcher(spoolRequestBytes, scratch.New(opt.Spool))
	scan := func(i int) error {
		file := &c.files[i]
		opened, in, err := c.reopenFile(ctx, i, opt.Memory, nil)
		if err != nil {
			return err
		}
		defer opened.Close()
		for g, n := range file.groups {
			leaf := file.leafIndex(spec.indices)
			if n == 0 || leaf < 0 {
				continue
			}
			group, release, err := ahead.openGroup(ctx, opened, in, g, []int{leaf})
			for from := int64(0); from < n && err == nil; from += rowsAtOnce {
				err = f(ctx, group, leaf, from, min(from+rowsAtOnce, n), &rows)
			}
			release()
			if err != nil {
				return err
			}
		}
		return nil
	}
	for i := range c.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := scan(i); err != nil {
			return err
		}
	}
	return nil
}

func finiteOrDefault(x, otherwise float64) float64 {
	if x-x == 0 {
		return x
	}
	return otherwise
}

// mapKeys contains the keys of a map of texts to numbers, in the order of their bytes. They are the features of its
// sparse rows.
type mapKeys struct {
	names  []string
	number map[string]int32
}

// keyCache holds the keys of maps that were read already, by their leaves.
type keyCache struct {
	mu     sync.Mutex
	byLeaf map[int]*mapKeys
}

// keyBytes is the memory of a key without its text, including its entries in two Go maps while keys are counted.
const keyBytes = 120

func (k *mapKeys) decodeKeyNumbers(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists) error {
	return decodeKeys(ctx, g, leaf, from, to, dst, func(key []byte) float64 {
		if n, ok := k.number[string(key)]; ok { // this conversion allocates no string
			return float64(n)
		}
		return -1 // an unknown key: the file has changed
	})
}

func decodeKeys(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists, number func(key []byte) float64) error {
	keyed, ok := g.(format.TextKeyed)
	if !ok {
		return errors.New("the keys of such a map cannot be read as text")
	}
	return keyed.DecodeTextKeys(ctx, leaf, from, to, number, dst)
}

func (k *mapKeys) featureNames(mapName string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, key := range k.names {
			if !yield(i, mapName+"."+key) {
				return
			}
		}
	}
}

// numberKeys finds and numbers all keys of a map of texts in one pass, whose result all Datasets of the catalog share.
func (c *catalog) numberKeys(ctx context.Context, spec *sparseSpec, opt Options) (*mapKeys, error) {
	c.keyCache.mu.Lock()
	defer c.keyCache.mu.Unlock()
	if known := c.keyCache.byLeaf[spec.indices]; known != nil {
		return known, nil
	}
	found, bytes := map[string]struct{}{}, int64(0)
	number := func(key []byte) float64 {
		if _, ok := found[string(key)]; !ok {
			found[string(key)] = struct{}{}
			bytes += keyBytes + int64(len(key))
		}
		return 0
	}
	tooMany := func() error {
		if len(found) > maxSparseFeatures {
			e := stream.Dataf(c.inputName(), "more than %d different keys, which are the features", maxSparseFeatures)
			e.Column = c.leaves[spec.indices].Name
			return e
		}
		if bytes > opt.Memory {
			return &stream.MemoryError{What: fmt.Sprintf("the %d keys found so far of the map %s", len(found), c.leaves[spec.indices].Name), Need: bytes, Limit: opt.Memory, AtLeast: true}
		}
		return nil
	}
	err := c.eachIndexBatch(ctx, spec, opt, func(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists) error {
		if err := decodeKeys(ctx, g, leaf, from, to, dst, number); err != nil {
			return err
		}
		return tooMany()
	})
	if err != nil {
		return nil, err
	}
	k := &mapKeys{names: slices.Sorted(maps.Keys(found)), number: make(map[string]int32, len(found))}
	for i, name := range k.names {
		k.number[name] = int32(i)
	}
	if c.keyCache.byLeaf == nil {
		c.keyCache.byLeaf = map[int]*mapKeys{}
	}
	c.keyCache.byLeaf[spec.indices] = k
	return k, nil
}
