package catalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MaxSparseFeatures bounds the number of features of sparse rows: a larger number more likely means that the wrong
// column is used for the indices.
const MaxSparseFeatures = 1 << 24

// EachIndexBatch calls f for batches of sparse rows, whose entries have their indices in the leaf `indices`.
func (c *Catalog) EachIndexBatch(ctx context.Context, indices int, opt settings.Options, f func(ctx context.Context, g format.Group, leaf int, from, to int64, rows *format.Lists) error) error {
	const rowsAtOnce = 8192
	var rows format.Lists
	ahead := storage.NewFetcher(storage.SpoolRequestBytes, scratch.New(opt.Spool))
	scan := func(i int) error {
		file := &c.Files[i]
		opened, in, err := c.ReopenFile(ctx, i, opt.Memory, nil)
		if err != nil {
			return err
		}
		defer opened.Close()
		for g, n := range file.Groups {
			leaf := file.LeafIndex(indices)
			if n == 0 || leaf < 0 {
				continue
			}
			group, release, err := ahead.OpenGroup(ctx, opened, in, g, []int{leaf})
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
	for i := range c.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := scan(i); err != nil {
			return err
		}
	}
	return nil
}

// MapKeys contains the keys of a map of texts to numbers, in byte order: the features of its sparse rows. For a map of
// integers that the file names, Names has these names.
type MapKeys struct {
	Names  []string
	number map[string]int32 // nil for a map of integers
}

// HasTexts reports whether the keys of the map are texts.
func (k *MapKeys) HasTexts() bool { return k != nil && k.number != nil }

// KeyCache holds the keys of maps that were read already, by their leaves.
type KeyCache struct {
	mu     sync.Mutex
	byLeaf map[int]*MapKeys
}

// keyBytes is the memory of a key without its text, including its entries in two Go maps while keys are counted.
const keyBytes = 120

// DecodeKeyNumbers decodes rows [from, to) of a map leaf to dst: each key becomes its index in Names.
func (k *MapKeys) DecodeKeyNumbers(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists) error {
	return decodeKeysAsNumbers(ctx, g, leaf, from, to, dst, func(key []byte) float64 {
		if n, ok := k.number[string(key)]; ok { // this conversion allocates no string
			return float64(n)
		}
		return -1 // an unknown key: the file has changed
	})
}

func decodeKeysAsNumbers(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists, number func(key []byte) float64) error {
	keyed, ok := g.(format.TextKeyed)
	if !ok {
		return errors.New("the keys of such a map cannot be read as text")
	}
	return keyed.DecodeTextKeys(ctx, leaf, from, to, number, dst)
}

// FeatureNames yields the number and the name of the feature that each key of a map becomes.
func (k *MapKeys) FeatureNames(mapName string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		prefix := ""
		if k.HasTexts() {
			prefix = mapName + "."
		}
		for i, key := range k.Names {
			if !yield(i, prefix+key) {
				return
			}
		}
	}
}

// NumberKeys finds and numbers all keys of a map of texts in one pass, whose result all Datasets of the catalog share.
func (c *Catalog) NumberKeys(ctx context.Context, leaf int, opt settings.Options) (*MapKeys, error) {
	c.KeyCache.mu.Lock()
	defer c.KeyCache.mu.Unlock()
	if known := c.KeyCache.byLeaf[leaf]; known != nil {
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
		if len(found) > MaxSparseFeatures {
			e := stream.Dataf(c.InputName(), "more than %d different keys, which are the features", MaxSparseFeatures)
			e.Column = c.Leaves[leaf].Name
			return e
		}
		if bytes > opt.Memory {
			return &stream.MemoryError{What: fmt.Sprintf("the %d keys found so far of the map %s", len(found), c.Leaves[leaf].Name), Need: bytes, Limit: opt.Memory, AtLeast: true}
		}
		return nil
	}
	err := c.EachIndexBatch(ctx, leaf, opt, func(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists) error {
		if err := decodeKeysAsNumbers(ctx, g, leaf, from, to, dst, number); err != nil {
			return err
		}
		return tooMany()
	})
	if err != nil {
		return nil, err
	}
	k := &MapKeys{Names: slices.Sorted(maps.Keys(found)), number: make(map[string]int32, len(found))}
	for i, name := range k.Names {
		k.number[name] = int32(i)
	}
	if c.KeyCache.byLeaf == nil {
		c.KeyCache.byLeaf = map[int]*MapKeys{}
	}
	c.KeyCache.byLeaf[leaf] = k
	return k, nil
}
