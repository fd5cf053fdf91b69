package plans

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// WritePlan writes a catalog to a plan file at path. forPlan reports whether the catalog has the data for this.
func WritePlan(ctx context.Context, c *catalog.Catalog, forPlan bool, path string, h PlanHeader) (PlanHeader, error) {
	switch {
	case c.List.IsStdin():
		return h, stream.Usagef("a stream cannot be planned, because a scan by the plan could not read it; save it to a file first")
	case c.Plan != nil && c.Plan.Shard.Of > 0:
		return h, stream.Usagef("a shard of a plan cannot be planned again")
	case !forPlan:
		return h, errors.New("chunkio: WritePlan of a Dataset that was not opened for it")
	}
	head := planfile.Header{
		Version: h.Version, Method: h.Method, Options: h.Options, Count: len(c.Files), Rows: c.Rows,
		Footers: true, Catalog: toPlanCatalog(c),
	}
	if t := c.List.Table; t != nil {
		at := *t
		var err error
		if at.Path, err = place.AbsolutePath(t.Path); err != nil {
			return h, err
		}
		head.Table = &at
	}
	if s := c.List.Schema; s != nil && (s.IsMapped || s.HasLocalTimes) {
		head.Columns = s.Root.Fields
	}
	var err error
	if head.Roots, err = findRootsForPlan(c.List, h.Options["anchors-file"]); err != nil {
		return h, err
	}
	for _, w := range c.Warnings {
		head.Warnings = append(head.Warnings, w.String())
	}
	h.Groups = 0
	for i := range c.Files {
		f := &c.Files[i]
		head.Bytes += f.Size
		h.Groups += len(f.Groups)
		for _, n := range f.Bytes {
			head.Weight += n
		}
	}
	create := atomicfile.Create
	if holdsSecrets(c.List, h.Options) {
		create = atomicfile.CreatePrivate
	}
	out, err := create(ctx, path)
	if err != nil {
		return h, err
	}
	defer out.Close()
	if head.ID, err = planfile.Write(out, head, filesForPlan(c, head.Catalog)); err != nil {
		return h, err
	}
	done := publicHeaderOf(head)
	done.Groups = h.Groups
	return done, out.Commit()
}

func toPlanCatalog(c *catalog.Catalog) *planfile.Catalog {
	p := &planfile.Catalog{First: c.InputName(), OpenBytes: c.OpenBytes, Far: c.HasRemote}
	for i, l := range c.Leaves {
		p.Leaves = append(p.Leaves, leafToPlan(l, c.FirstRefusal[i]))
	}
	for _, part := range c.Parts {
		p.Partitions = append(p.Partitions, planfile.Partition{Key: part.Key, Why: part.Why, Truth: part.IsBool, Before: part.LeafAfter})
	}
	c.Texts.AddTypesToPlan(p)
	seen := map[*int32]bool{}
	for i := range c.Files {
		if order := c.Files[i].Order; order != nil && !seen[&order[0]] {
			seen[&order[0]] = true
			p.Orders = append(p.Orders, order)
		}
	}
	if f := c.Filter; f != nil {
		for _, key := range slices.Sorted(maps.Keys(f.Keys)) {
			p.Kinds = append(p.Kinds, planfile.Kind{Key: key, Kind: keyKinds[f.Keys[key]]})
		}
	}
	return p
}

// keyKinds names the ways to compare a partition key. Plans contain these names.
var keyKinds = map[where.Kind]string{
	{Class: where.KeyNumber}: "number", {Class: where.KeyTruth}: "truth", {Class: where.KeyText}: "text",
	{Class: where.KeyDate}: "date", {Class: where.KeyTime}: "local time", {Class: where.KeyTime, UTC: true}: "time",
}

func filesForPlan(c *catalog.Catalog, p *planfile.Catalog) iter.Seq2[planfile.File, error] {
	numbers := make(map[*int32]int, len(p.Orders))
	for i, order := range p.Orders {
		numbers[&order[0]] = i + 1
	}
	return func(yield func(planfile.File, error) bool) {
		for i, e := range c.List.Entries() {
			f := &c.Files[i]
			out := planfile.File{
				Bytes: f.Size, Version: e.Version, Deleted: e.Deleted, Constants: e.Constants, Start: f.Start,
				Footer: storage.FormatFingerprint(f.Digest), Fingerprint: storage.FormatFingerprint(f.Fingerprint), Whole: f.RowsByContent,
			}
			var err error
			if out.Path, err = place.WithoutParameters(e.Path); err == nil {
				out.Keys, err = keyValuesForPlan(c, i, e.Path)
			}
			if err != nil {
				yield(out, err)
				return
			}
			for g, rows := range f.Groups {
				out.Groups = append(out.Groups, [2]int64{rows, f.Bytes[g]})
			}
			if f.Order != nil {
				out.Order = numbers[&f.Order[0]]
			}
			for _, o := range f.Outcomes {
				out.Outcomes += strconv.Itoa(int(o))
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

func findRootsForPlan(l *listing.List, recordedRoot string) (roots []string, err error) {
	roots = place.CommonRoots(func(yield func(string) bool) {
		for _, e := range l.Entries() {
			var name string
			if name, err = place.AbsolutePath(e.Path); err != nil || !yield(name) {
				return
			}
		}
	})
	if recordedRoot == "" || err != nil {
		return roots, err
	}
	recordedRoot, err = place.AbsolutePath(recordedRoot)
	return append(roots, recordedRoot), err
}

func keyValuesForPlan(c *catalog.Catalog, fileIndex int, path string) ([]string, error) {
	keys, values, err := c.List.PartitionValues(fileIndex, path)
	if err != nil {
		return nil, err
	}
	names := convert.Each(c.Parts, func(p catalog.Partition) string { return p.Key })
	return catalog.AlignKeyValues(path, c.InputName(), names, keys, values)
}

// holdsSecrets reports whether a plan of these files would contain secrets, because the query of an https:// URL can be
// a signature. URLs of buckets contain no secrets.
func holdsSecrets(list *listing.List, options map[string]string) bool {
	signed := func(path string) bool { return strings.HasPrefix(path, "http") && place.DisplayName(path) != path }
	if slices.ContainsFunc(slices.Collect(maps.Values(options)), signed) {
		return true
	}
	for _, e := range list.Entries() {
		if signed(e.Path) {
			return true
		}
	}
	return false
}

func leafToPlan(l format.Leaf, refusingFile string) planfile.Leaf {
	return planfile.Leaf{
		Name: l.Name, Type: l.Type, Why: l.Why, Refused: l.Refused, RefusedBy: refusingFile, Width: l.Width, List: l.List,
		Nulls: l.Nulls, MaybeNaN: l.MaybeNaN, NoClass: l.NoClass, Scratch: l.Scratch, TextScratch: l.TextScratch,
		PerSecond: l.PerSecond, UTC: l.UTC, Packed: l.Packed, PerRow: l.PerRow, Entries: l.Entries, NoEntries: l.NoEntries, Index: l.Index, TextKeys: l.TextKeys,
		Before: l.Before, After: l.After, Keys: l.Keys, Asides: l.Asides,
	}
}

func leafFromPlan(l planfile.Leaf) format.Leaf {
	return format.Leaf{
		Name: l.Name, Type: l.Type, Why: l.Why, Refused: l.Refused, Width: l.Width, List: l.List,
		Nulls: l.Nulls, MaybeNaN: l.MaybeNaN, NoClass: l.NoClass, Scratch: l.Scratch, TextScratch: l.TextScratch,
		PerSecond: l.PerSecond, UTC: l.UTC, Packed: l.Packed, PerRow: l.PerRow, Entries: l.Entries, NoEntries: l.NoEntries, Index: l.Index, TextKeys: l.TextKeys,
		Before: l.Before, After: l.After, Keys: l.Keys, Asides: l.Asides,
	}
}
