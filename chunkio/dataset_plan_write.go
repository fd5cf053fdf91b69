package chunkio

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// WritePlan writes a plan file of the Dataset, which must be opened with ForPlan or from a plan, to path. The file
// appears whole or not at all. WritePlan uses Version, Method and Options of h, and returns h with all other fields
// set. A plan contains the condition, but not the choice of features, which is made when the plan is opened.
func (d *Dataset) WritePlan(ctx context.Context, path string, h PlanHeader) (PlanHeader, error) {
	c := d.catalog
	switch {
	case c.list.isStdin():
		return h, stream.Usagef("a stream cannot be planned, because a scan by the plan could not read it; save it to a file first")
	case c.plan != nil && c.plan.shard.Of > 0:
		return h, stream.Usagef("a shard of a plan cannot be planned again")
	case !d.opt.ForPlan:
		return h, errors.New("chunkio: WritePlan of a Dataset that was not opened for it")
	}
	head := planfile.Header{
		Version: h.Version, Method: h.Method, Options: h.Options, Count: len(c.files), Rows: c.rows,
		Footers: true, Catalog: c.toPlanCatalog(),
	}
	if t := d.Table(); t != nil {
		at := *t
		var err error
		if at.Path, err = place.AbsolutePath(t.Path); err != nil {
			return h, err
		}
		head.Table = &at
	}
	var err error
	if head.Roots, err = c.list.findPlanRoots(h.Options["anchors-file"]); err != nil {
		return h, err
	}
	for _, w := range c.warnings {
		head.Warnings = append(head.Warnings, w.String())
	}
	h.Groups = 0
	for i := range c.files {
		f := &c.files[i]
		head.Bytes += f.size
		h.Groups += len(f.groups)
		for _, n := range f.bytes {
			head.Weight += n
		}
	}
	create := atomicfile.Create
	if holdsSecrets(c.list, h.Options) {
		create = atomicfile.CreatePrivate
	}
	out, err := create(ctx, path)
	if err != nil {
		return h, err
	}
	defer out.Close()
	if head.ID, err = planfile.Write(out, head, c.planFiles(head.Catalog)); err != nil {
		return h, err
	}
	done := toPublicHeader(head)
	done.Groups = h.Groups
	return done, out.Commit()
}

func (c *catalog) toPlanCatalog() *planfile.Catalog {
	p := &planfile.Catalog{First: c.inputName(), OpenBytes: c.openBytes, Far: c.hasRemote}
	for i, l := range c.leaves {
		p.Leaves = append(p.Leaves, leafToPlan(l, c.firstRefusal[i]))
	}
	for _, part := range c.parts {
		p.Partitions = append(p.Partitions, planfile.Partition{Key: part.key, Why: part.why, Truth: part.isBool, Before: part.leafAfter})
	}
	c.texts.addTypesToPlan(p)
	seen := map[*int32]bool{}
	for i := range c.files {
		if order := c.files[i].order; order != nil && !seen[&order[0]] {
			seen[&order[0]] = true
			p.Orders = append(p.Orders, order)
		}
	}
	if f := c.filter; f != nil {
		for _, key := range slices.Sorted(maps.Keys(f.keys)) {
			p.Kinds = append(p.Kinds, planfile.Kind{Key: key, Kind: keyKinds[f.keys[key].Class]})
		}
	}
	return p
}

// keyKinds names the ways to compare a partition key, as number, as boolean or as text. Plans contain these names.
var keyKinds = map[where.Class]string{where.KeyNumber: "number", where.KeyTruth: "truth", where.KeyText: "text"}

func (c *catalog) planFiles(p *planfile.Catalog) iter.Seq2[planfile.File, error] {
	numbers := make(map[*int32]int, len(p.Orders))
	for i, order := range p.Orders {
		numbers[&order[0]] = i + 1
	}
	return func(yield func(planfile.File, error) bool) {
		for i, e := range c.list.entries() {
			f := &c.files[i]
			out := planfile.File{
				Bytes: f.size, Version: e.version, Start: f.start,
				Footer: formatFingerprint(f.digest), Fingerprint: formatFingerprint(f.fingerprint), Whole: f.rowsByContent,
			}
			var err error
			if out.Path, err = place.WithoutParameters(e.path); err == nil {
				out.Keys, err = c.keyValuesForPlan(i, e.path)
			}
			if err != nil {
				yield(out, err)
				return
			}
			for g, rows := range f.groups {
				out.Groups = append(out.Groups, [2]int64{rows, f.bytes[g]})
			}
			if f.order != nil {
				out.Order = numbers[&f.order[0]]
			}
			for _, o := range f.outcomes {
				out.Outcomes += strconv.Itoa(int(o))
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

func (l *fileList) findPlanRoots(other string) (roots []string, err error) {
	roots = place.CommonRoots(func(yield func(string) bool) {
		for _, e := range l.entries() {
			var name string
			if name, err = place.AbsolutePath(e.path); err != nil || !yield(name) {
				return
			}
		}
	})
	if other == "" || err != nil {
		return roots, err
	}
	other, err = place.AbsolutePath(other)
	return append(roots, other), err
}

func (c *catalog) keyValuesForPlan(i int, path string) ([]string, error) {
	keys, values, err := c.list.partitionValues(i, path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range c.parts {
		names = append(names, p.key)
	}
	return alignKeyValues(path, c.inputName(), names, keys, values)
}

// holdsSecrets reports whether a plan of these files would contain secrets, because the query of an https:// URL can be
// a signature. URLs of buckets contain no secrets.
func holdsSecrets(list *fileList, options map[string]string) bool {
	signed := func(path string) bool { return strings.HasPrefix(path, "http") && place.DisplayName(path) != path }
	for _, text := range options {
		if signed(text) {
			return true
		}
	}
	for _, e := range list.entries() {
		if signed(e.path) {
			return true
		}
	}
	return false
}

func leafToPlan(l format.Leaf, refusedBy string) planfile.Leaf {
	return planfile.Leaf{
		Name: l.Name, Type: l.Type, Why: l.Why, Refused: l.Refused, RefusedBy: refusedBy, Width: l.Width, List: l.List,
		Nulls: l.Nulls, MaybeNaN: l.MaybeNaN, NoClass: l.NoClass, Scratch: l.Scratch, TextScratch: l.TextScratch,
		PerSecond: l.PerSecond, UTC: l.UTC, Packed: l.Packed, PerRow: l.PerRow, Entries: l.Entries, NoEntries: l.NoEntries, Index: l.Index, TextKeys: l.TextKeys,
		Before: l.Before, After: l.After,
	}
}

func leafFromPlan(l planfile.Leaf) format.Leaf {
	return format.Leaf{
		Name: l.Name, Type: l.Type, Why: l.Why, Refused: l.Refused, Width: l.Width, List: l.List,
		Nulls: l.Nulls, MaybeNaN: l.MaybeNaN, NoClass: l.NoClass, Scratch: l.Scratch, TextScratch: l.TextScratch,
		PerSecond: l.PerSecond, UTC: l.UTC, Packed: l.Packed, PerRow: l.PerRow, Entries: l.Entries, NoEntries: l.NoEntries, Index: l.Index, TextKeys: l.TextKeys,
		Before: l.Before, After: l.After,
	}
}
