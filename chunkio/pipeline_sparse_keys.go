package chunkio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// mapKeys are the keys of a map of texts to numbers: the features of its sparse rows, in the order of their bytes.
type mapKeys struct {
	names  []string
	number map[string]int32
}

// knownKeys are the keys of maps that were read already, by their leaves.
type knownKeys struct {
	mu sync.Mutex
	of map[int]*mapKeys
}

// keyBytes is what a key takes beside its text, twice in maps while they are counted.
const keyBytes = 120

// decode reads the keys of rows [from, to) of a row group as their numbers.
func (k *mapKeys) decode(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists) error {
	return decodeKeys(ctx, g, leaf, from, to, dst, func(key []byte) float64 {
		if n, ok := k.number[string(key)]; ok { // makes no string
			return float64(n)
		}
		return -1 // the file has changed
	})
}

func decodeKeys(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists, number func(key []byte) float64) error {
	keyed, ok := g.(format.TextKeyed)
	if !ok {
		return errors.New("the keys of such a map cannot be read as text")
	}
	return keyed.DecodeTextKeys(ctx, leaf, from, to, number, dst)
}

// columns are the names of the features of the map.
func (k *mapKeys) columns(mapName string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, key := range k.names {
			if !yield(i, mapName+"."+key) {
				return
			}
		}
	}
}

// numberKeys finds all keys of a map of texts, in a pass over them, once for all Datasets of the catalog.
func (c *catalog) numberKeys(ctx context.Context, spec *sparseSpec, opt Options) (*mapKeys, error) {
	c.keys.mu.Lock()
	defer c.keys.mu.Unlock()
	if known := c.keys.of[spec.indices]; known != nil {
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
			e := stream.Dataf(c.name(), "more than %d different keys, which are the features", maxSparseFeatures)
			e.Column = c.leaves[spec.indices].Name
			return e
		}
		if bytes > opt.Memory {
			return &stream.MemoryError{What: fmt.Sprintf("the %d keys found so far of the map %s", len(found), c.leaves[spec.indices].Name), Need: bytes, Limit: opt.Memory, AtLeast: true}
		}
		return nil
	}
	err := c.eachIndices(ctx, spec, opt, func(ctx context.Context, g format.Group, leaf int, from, to int64, dst *format.Lists) error {
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
	if c.keys.of == nil {
		c.keys.of = map[int]*mapKeys{}
	}
	c.keys.of[spec.indices] = k
	return k, nil
}
