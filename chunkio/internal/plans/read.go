package plans

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ListFiles returns the files that Options.Plan names, as listing.ExpandInputs does for inputs. It ignores the footers in
// the plan.
func ListFiles(ctx context.Context, a *opening.Access) (list *listing.List, err error) {
	err = readPlanInScope(ctx, a, func(r *planfile.Reader, scope *place.Scope) error {
		if list, err = readPlanList(r, scope, place.DisplayName(a.Options.Plan), false); err == nil {
			list.Lists = []string{a.Options.Plan}
		}
		return err
	})
	return list, err
}

// OpenPlan reads Options.Plan. It returns a catalog of the shard's files or, without footers, a list of files.
func OpenPlan(ctx context.Context, a *opening.Access, f *catalog.Filter) (c *catalog.Catalog, list *listing.List, err error) {
	shard := a.Options.Shard
	if shard.Of < 0 || shard.Of > 0 && (shard.Number < 1 || shard.Number > shard.Of) {
		return nil, nil, stream.Usagef("shard %d/%d: want I/N with 1 <= I <= N", shard.Number, shard.Of)
	}
	err = readPlanInScope(ctx, a, func(r *planfile.Reader, scope *place.Scope) error {
		h := r.Header
		if !h.Footers {
			if shard.Of > 0 {
				return NoShards(a.Options.Plan)
			}
			list, err = readPlanList(r, scope, place.DisplayName(a.Options.Plan), a.Options.TableLosses)
			return err
		}
		t := &planLoader{Access: a, reader: r, scope: scope}
		if t.list, err = newPlanList(h, place.DisplayName(a.Options.Plan)); err != nil {
			return err
		}
		c, err = t.loadCatalog(f)
		return err
	})
	if err == nil && c != nil && !a.Options.ForPlan {
		err = preloadRows(ctx, a, c)
	}
	return c, list, err
}

// readPlanInScope calls read with Options.Plan and the places that its files may be in. It refuses a plan that was made with
// other options for choosing rows.
func readPlanInScope(ctx context.Context, a *opening.Access, read func(*planfile.Reader, *place.Scope) error) error {
	o := a.Options
	if o.TableVersion != nil || !o.TableAsOf.IsZero() {
		return stream.Usagef("{version} and {as-of}: the plan has settled which version is read")
	}
	return readPlan(ctx, o.Plan, storage.FetchOptions{Anonymous: o.Anonymous, Meter: o.Meter, Temp: o.Spool, Memory: o.Memory}, func(r *planfile.Reader) error {
		if made := r.Header.Options["where"]; made != o.Where {
			return stream.Usagef("{where} %s: the plan was made with %q; make another plan for another condition", o.Where, made)
		}
		if err := checkPlanSince(r.Header, o); err != nil {
			return err
		}
		scope, err := planScope(o.Plan, r.Header.Roots, o.Allow)
		if err != nil {
			return err
		}
		return read(r, scope)
	})
}

func checkPlanSince(h planfile.Header, o settings.Options) error {
	switch name := place.DisplayName(o.Plan); {
	case h.Since == nil && o.TableSince == nil:
		return nil
	case h.Since == nil:
		return stream.Usagef("{since}: %s has all rows of a version, not the changes since another", name)
	case h.Table == nil || h.Footers:
		return errors.New("it has changes of no table, or with footers")
	case o.TableSince == nil:
		return stream.Usagef("%s has only the changes of %s since version %d; scan {plan} %[1]s {o} FILE.ufs reads them, also in shards, and merge adds them to statistics of that version", name, h.Table.Path, *h.Since)
	case *o.TableSince != *h.Since:
		return fmt.Errorf("it had changes since version %d, and was replaced", *o.TableSince)
	}
	return nil
}

// preloadRows opens the files of a plan that opening reads to their end, such as CSV. It does so before a pass begins,
// while all the memory is available for it.
func preloadRows(ctx context.Context, a *opening.Access, c *catalog.Catalog) error {
	for i := range c.Files {
		if !c.Files[i].RowsByContent && !opening.IsReadAtOpening(c.FileName(i)) {
			continue
		}
		opened, _, err := c.ReopenFile(ctx, i, a.Options.Memory, a.Options.Meter)
		if err != nil {
			return err
		}
		if err := opened.Close(); err != nil {
			return err
		}
	}
	return nil
}

// NoShards implements chunkio.NoShards: it returns the error of a request for a shard of a plan without footers.
func NoShards(plan string) error {
	return stream.Usagef("%s has no footers, so it has no shards; complete it: plan {plan} %[1]s {o} OTHER%s", place.DisplayName(plan), planfile.Ending)
}

// planLoader makes a catalog from a plan file that contains the data of the footers.
type planLoader struct {
	*opening.Access
	reader *planfile.Reader
	scope  *place.Scope
	list   *listing.List
	files  []catalog.File
	parts  []catalog.Partition

	rows, weight       int64 // rows of the files so far, and the bytes to read for them
	maxGroupRows       int64 // rows of the tallest row group, also in other shards
	shardFrom, shardTo int64 // range of the rows of the shard; shardFrom is -1 until its first row group is found
	firstFileStart     int64 // position of the first row in the first file of the shard
}

func (t *planLoader) loadCatalog(f *catalog.Filter) (*catalog.Catalog, error) {
	h := t.reader.Header
	if h.Catalog == nil {
		return nil, errors.New("it promises footers and has none")
	}
	if min(h.Rows, h.Weight, h.Catalog.OpenBytes) < 0 {
		return nil, fmt.Errorf("%d rows, %d bytes to read and %d of an open file cannot be", h.Rows, h.Weight, h.Catalog.OpenBytes)
	}
	if err := t.loadKeyKinds(f, h.Catalog); err != nil {
		return nil, err
	}
	c := &catalog.Catalog{
		KeyCache:     new(catalog.KeyCache),
		FirstRefusal: map[int]string{}, List: t.list, Rows: h.Rows, OpenBytes: h.Catalog.OpenBytes,
		Warnings: t.list.Warnings, Open: t.OpenEntry, Tails: &t.Objects.Tails, Texts: &t.Texts, HasRemote: h.Catalog.Far, Filter: f,
	}
	for i, l := range h.Catalog.Leaves {
		single := l.List || l.Why != "" || l.Width == 1
		if !single || l.Width < 0 || l.Width > maxListWidth || l.Nulls < -1 || min(l.Scratch, l.TextScratch, l.Packed, l.PerRow, l.PerSecond) < 0 ||
			min(l.Before, l.After) < 0 || max(l.Before, l.After) > maxListWidth ||
			l.Asides != nil && len(l.Asides) != len(l.Keys) || len(slices.Compact(slices.Sorted(slices.Values(l.Keys)))) < len(l.Keys) {
			return nil, fmt.Errorf("column %q has an impossible kind", l.Name)
		}
		c.Leaves = append(c.Leaves, leafFromPlan(l))
		if l.Refused {
			c.FirstRefusal[i] = l.RefusedBy
		}
	}
	t.Texts.LoadTypesFromPlan(h.Catalog)
	if at := slices.IndexFunc(h.Catalog.Texts, t.RequestsNumbers); at >= 0 {
		return nil, stream.Usagef("column %q: the plan has it as text; make another plan, with {columns} that names it", h.Catalog.Texts[at])
	}
	for _, p := range h.Catalog.Partitions {
		t.parts = append(t.parts, catalog.Partition{Key: p.Key, Why: p.Why, IsBool: p.Truth, LeafAfter: p.Before})
	}
	if f != nil {
		if err := f.BindColumns(h.Catalog.First, c.Leaves); err != nil {
			return nil, err
		}
	}
	t.shardFrom = -1
	for {
		next, err := readNextPlanFile(t.reader, t.scope)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = t.addFile(next, len(c.Leaves), f != nil)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.rows != h.Rows || t.weight != h.Weight {
		return nil, errors.New("its files do not add up to its header")
	}
	c.Files, c.Parts, c.MaxGroup = t.files, t.parts, t.maxGroupRows
	c.Plan = &catalog.PlanInfo{
		Id: h.ID, Shard: t.Options.Shard, FirstFile: h.Catalog.First, Files: h.Count, FirstFileStart: t.firstFileStart,
	}
	switch {
	case t.Options.Shard.Of == 0:
	case t.shardFrom < 0: // there are more shards than row groups
		c.Plan.Rows, c.Plan.FirstFileStart = stream.Range{From: h.Rows, To: h.Rows}, h.Rows
	default:
		c.Plan.Rows = stream.Range{From: t.shardFrom, To: t.shardTo}
	}
	return c, nil
}

func (t *planLoader) loadKeyKinds(f *catalog.Filter, c *planfile.Catalog) error {
	if f == nil {
		return nil
	}
	for _, p := range c.Partitions {
		f.AllKeys = append(f.AllKeys, p.Key)
	}
	for _, k := range c.Kinds {
		found := false
		for kind, name := range keyKinds {
			if name == k.Kind {
				f.Keys[k.Key], found = kind, true
			}
		}
		if !found {
			return fmt.Errorf("partition key %q has the unknown kind %q", k.Key, k.Kind)
		}
	}
	return nil
}

func (t *planLoader) addFile(p planfile.File, leaves int, hasCondition bool) error {
	damaged := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", place.DisplayName(p.Path), fmt.Sprintf(format, args...))
	}
	f := catalog.File{Size: p.Bytes, Start: t.rows, RowsByContent: p.Whole}
	if p.Start != t.rows {
		return damaged("it begins at row %d, and the files before it have %d", p.Start, t.rows)
	}
	var err1, err2 error
	f.Digest, err1 = strconv.ParseUint(p.Footer, 16, 64)
	f.Fingerprint, err2 = strconv.ParseUint(p.Fingerprint, 16, 64)
	if err1 != nil || err2 != nil {
		return damaged("footer %q or fingerprint %q is no digest of 16 hexadecimal digits", p.Footer, p.Fingerprint)
	}
	shard, whole := t.Options.Shard, t.reader.Header.Weight
	inside := p.Rows() == 0 && containsGroup(shard, t.weight, 0, whole) // a file without rows is like an empty group
	for _, g := range p.Groups {
		rows, weight := g[0], g[1]
		if rows < 0 || weight < 0 || rows > t.reader.Header.Rows-t.rows || weight > whole-t.weight {
			return damaged("row groups that do not add up")
		}
		if rows > 0 && containsGroup(shard, t.weight, weight, whole) {
			if t.shardFrom < 0 {
				t.shardFrom, t.firstFileStart = t.rows, f.Start
			}
			t.shardTo, inside = t.rows+rows, true
		}
		f.Groups = append(f.Groups, rows)
		if t.Options.ForPlan {
			f.Bytes = append(f.Bytes, weight)
		}
		t.rows, t.weight, t.maxGroupRows = t.rows+rows, t.weight+weight, max(t.maxGroupRows, rows)
	}
	if !inside && shard.Of > 0 {
		return nil
	}
	if p.Order > 0 {
		if f.Order = t.columnOrder(p.Order, leaves); f.Order == nil {
			return damaged("an invalid order of columns")
		}
	}
	if hasCondition {
		for _, digit := range []byte(p.Outcomes) {
			f.Outcomes = append(f.Outcomes, where.Outcome(digit-'0')&7)
		}
		if len(f.Outcomes) != len(f.Groups) {
			return damaged("it says of %d row groups what the condition is, and has %d", len(f.Outcomes), len(f.Groups))
		}
	}
	if err := addPlanFile(t.list, p); err != nil {
		return err
	}
	t.files = append(t.files, f)
	return t.addPartitionValues(p)
}

// maxListWidth is the greatest length of a list whose elements are features, in any format.
const maxListWidth = 1 << 20

// columnOrder returns the plan's column order with this number, counted from 1. It returns nil if this is not a valid
// order of the given number of leaves. matchesPlan checks that the file has these leaves.
func (t *planLoader) columnOrder(number, leaves int) []int32 {
	orders := t.reader.Header.Catalog.Orders
	if number > len(orders) || len(orders[number-1]) != leaves {
		return nil
	}
	order := orders[number-1]
	if slices.ContainsFunc(order, func(i int32) bool { return i < -1 }) {
		return nil
	}
	return order
}

func (t *planLoader) addPartitionValues(f planfile.File) (err error) {
	for i := range t.parts {
		p := &t.parts[i]
		if p.Why != "" {
			continue
		}
		x := format.Null
		if text := f.Keys[i]; text != listing.HiveNull {
			parse := catalog.ParseDecimal
			if p.IsBool {
				parse = catalog.ParseBoolNumber
			}
			if x, err = parse(text); err != nil {
				return fmt.Errorf("%s: partition key %q: %w", place.DisplayName(f.Path), p.Key, err)
			}
		}
		p.Values = append(p.Values, x)
	}
	return nil
}

// containsGroup reports whether a row group is in the shard. A row group is in the shard that contains the middle of
// its bytes; bytesBefore counts the bytes of the row groups before it. So shards are disjoint, cover all rows and keep
// their order. Each end of a shard differs by at most half a row group from an equal division of the bytes.
func containsGroup(s settings.Shard, bytesBefore, groupBytes, totalBytes int64) bool {
	if s.Of == 0 {
		return true
	}
	if totalBytes == 0 {
		return s.Number == 1
	}
	// The middle divided by totalBytes, times the number of shards, in 128 bits: petabytes times thousands exceed 64
	// bits.
	high, low := bits.Mul64(uint64(2*bytesBefore+groupBytes), uint64(s.Of))
	shard, _ := bits.Div64(high, low, 2*uint64(totalBytes))
	return min(int(shard), s.Of-1) == s.Number-1
}
