package chunkio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/where"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// openPlan reads Options.Plan. It returns a catalog of the shard's files or, if the plan has no footers, the list of
// its files.
func (a *access) openPlan(ctx context.Context, f *filter) (c *catalog, list *fileList, err error) {
	shard := a.opt.Shard
	if shard.Of < 0 || shard.Of > 0 && (shard.Number < 1 || shard.Number > shard.Of) {
		return nil, nil, stream.Usagef("shard %d/%d: want I/N with 1 <= I <= N", shard.Number, shard.Of)
	}
	if a.opt.TableVersion != nil || !a.opt.TableAsOf.IsZero() {
		return nil, nil, stream.Usagef("{version} and {as-of}: the plan has settled which version is read")
	}
	err = readPlan(ctx, a.opt.Plan, FetchOptions{Anonymous: a.opt.Anonymous, Meter: a.opt.Meter, Temp: a.opt.Spool, Memory: a.opt.Memory}, func(r *planfile.Reader) error {
		h := r.Header
		if h.Options["where"] != a.opt.Where {
			return stream.Usagef("{where} %s: the plan was made with %q; make another plan for another condition", a.opt.Where, h.Options["where"])
		}
		scope, err := planScope(a.opt.Plan, h.Roots, a.opt.Allow)
		if err != nil {
			return err
		}
		if !h.Footers {
			if shard.Of > 0 {
				return NoShards(a.opt.Plan)
			}
			list, err = readPlanList(r, scope, place.DisplayName(a.opt.Plan))
			return err
		}
		t := &planLoader{access: a, reader: r, scope: scope, list: newPlanList(h, place.DisplayName(a.opt.Plan))}
		c, err = t.loadCatalog(f)
		return err
	})
	if err == nil && c != nil && !a.opt.ForPlan {
		err = a.preloadRows(ctx, c)
	}
	return c, list, err
}

// preloadRows opens the files of a plan that opening reads to their end, such as CSV. It does so before a pass begins,
// while all the memory is available for it.
func (a *access) preloadRows(ctx context.Context, c *catalog) error {
	for i := range c.files {
		if !c.files[i].rowsByContent && !isReadAtOpening(c.fileName(i)) {
			continue
		}
		opened, _, err := c.reopenFile(ctx, i, a.opt.Memory, a.opt.Meter)
		if err != nil {
			return err
		}
		if err := opened.Close(); err != nil {
			return err
		}
	}
	return nil
}

// NoShards returns the error of a request for a shard of a plan without footers.
func NoShards(plan string) error {
	return stream.Usagef("%s has no footers, so it has no shards; complete it: plan {plan} %[1]s {o} OTHER%s", place.DisplayName(plan), planfile.Ending)
}

// planLoader makes a catalog from a plan with footers.
type planLoader struct {
	*access
	reader *planfile.Reader
	scope  *place.Scope
	list   *fileList
	files  []file
	parts  []partition

	rows, weight       int64 // rows of the files so far, and the bytes to read for them
	maxGroupRows       int64 // rows of the tallest row group, also in other shards
	shardFrom, shardTo int64 // range of the rows of the shard; shardFrom is -1 until its first row group is found
	firstFileStart     int64 // position of the first row in the first file of the shard
}

func (t *planLoader) loadCatalog(f *filter) (*catalog, error) {
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
	c := &catalog{
		keyCache:     new(keyCache),
		firstRefusal: map[int]string{}, list: t.list, rows: h.Rows, openBytes: h.Catalog.OpenBytes,
		warnings: t.list.warnings, open: t.openEntry, tails: &t.tails, texts: &t.texts, hasRemote: h.Catalog.Far, filter: f,
	}
	for i, l := range h.Catalog.Leaves {
		single := l.List || l.Why != "" || l.Width == 1
		if !single || l.Width < 0 || l.Width > maxListWidth || l.Nulls < -1 || min(l.Scratch, l.TextScratch, l.Packed, l.PerRow, l.PerSecond) < 0 ||
			min(l.Before, l.After) < 0 || max(l.Before, l.After) > maxListWidth {
			return nil, fmt.Errorf("column %q has an impossible kind", l.Name)
		}
		c.leaves = append(c.leaves, leafFromPlan(l))
		if l.Refused {
			c.firstRefusal[i] = l.RefusedBy
		}
	}
	t.texts.loadTypesFromPlan(h.Catalog)
	if at := slices.IndexFunc(h.Catalog.Texts, t.requestsNumbers); at >= 0 {
		return nil, stream.Usagef("column %q: the plan has it as text; make another plan, with {columns} that names it", h.Catalog.Texts[at])
	}
	for _, p := range h.Catalog.Partitions {
		t.parts = append(t.parts, partition{key: p.Key, why: p.Why, isBool: p.Truth, leafAfter: p.Before})
	}
	if f != nil {
		if err := f.bindColumns(h.Catalog.First, c.leaves); err != nil {
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
			err = t.addFile(next, len(c.leaves), f != nil)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.rows != h.Rows || t.weight != h.Weight {
		return nil, errors.New("its files do not add up to its header")
	}
	c.files, c.parts, c.maxGroup = t.files, t.parts, t.maxGroupRows
	c.plan = &planInfo{
		id: h.ID, shard: t.opt.Shard, firstFile: h.Catalog.First, files: h.Count, firstFileStart: t.firstFileStart,
	}
	switch {
	case t.opt.Shard.Of == 0:
	case t.shardFrom < 0: // there are more shards than row groups
		c.plan.rows, c.plan.firstFileStart = stream.Range{From: h.Rows, To: h.Rows}, h.Rows
	default:
		c.plan.rows = stream.Range{From: t.shardFrom, To: t.shardTo}
	}
	return c, nil
}

func (t *planLoader) loadKeyKinds(f *filter, c *planfile.Catalog) error {
	if f == nil {
		return nil
	}
	for _, p := range c.Partitions {
		f.allKeys = append(f.allKeys, p.Key)
	}
	for _, k := range c.Kinds {
		found := false
		for class, name := range keyKinds {
			if name == k.Kind {
				f.keys[k.Key], found = where.Kind{Class: class}, true
			}
		}
		if !found {
			return fmt.Errorf("partition key %q has the unknown kind %q", k.Key, k.Kind)
		}
	}
	return nil
}

func (t *planLoader) addFile(p planfile.File, leaves int, condition bool) error {
	damaged := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", place.DisplayName(p.Path), fmt.Sprintf(format, args...))
	}
	f := file{size: p.Bytes, start: t.rows, rowsByContent: p.Whole}
	if p.Start != t.rows {
		return damaged("it begins at row %d, and the files before it have %d", p.Start, t.rows)
	}
	var err1, err2 error
	f.digest, err1 = strconv.ParseUint(p.Footer, 16, 64)
	f.fingerprint, err2 = strconv.ParseUint(p.Fingerprint, 16, 64)
	if err1 != nil || err2 != nil {
		return damaged("footer %q or fingerprint %q is no digest of 16 hexadecimal digits", p.Footer, p.Fingerprint)
	}
	shard, whole := t.opt.Shard, t.reader.Header.Weight
	inside := p.Rows() == 0 && shard.containsGroup(t.weight, 0, whole) // a file without rows is like an empty group
	for _, g := range p.Groups {
		rows, weight := g[0], g[1]
		if rows < 0 || weight < 0 || rows > t.reader.Header.Rows-t.rows || weight > whole-t.weight {
			return damaged("row groups that do not add up")
		}
		if rows > 0 && shard.containsGroup(t.weight, weight, whole) {
			if t.shardFrom < 0 {
				t.shardFrom, t.firstFileStart = t.rows, f.start
			}
			t.shardTo, inside = t.rows+rows, true
		}
		f.groups = append(f.groups, rows)
		if t.opt.ForPlan {
			f.bytes = append(f.bytes, weight)
		}
		t.rows, t.weight, t.maxGroupRows = t.rows+rows, t.weight+weight, max(t.maxGroupRows, rows)
	}
	if !inside && shard.Of > 0 {
		return nil
	}
	if p.Order > 0 {
		if f.order = t.columnOrder(p.Order, leaves); f.order == nil {
			return damaged("an invalid order of columns")
		}
	}
	if condition {
		for _, digit := range []byte(p.Outcomes) {
			f.outcomes = append(f.outcomes, where.Outcome(digit-'0')&7)
		}
		if len(f.outcomes) != len(f.groups) {
			return damaged("it says of %d row groups what the condition is, and has %d", len(f.outcomes), len(f.groups))
		}
	}
	if err := t.list.addPlanFile(p); err != nil {
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
		if p.why != "" {
			continue
		}
		x := format.Null
		if text := f.Keys[i]; text != hiveNull {
			parse := parseDecimal
			if p.isBool {
				parse = parseBoolNumber
			}
			if x, err = parse(text); err != nil {
				return fmt.Errorf("%s: partition key %q: %w", place.DisplayName(f.Path), p.key, err)
			}
		}
		p.values = append(p.values, x)
	}
	return nil
}

// containsGroup reports whether a row group is in the shard. A row group is in the shard that contains the middle of
// its bytes; bytesBefore counts the bytes of the row groups before it. So shards are disjoint, cover all rows and keep
// their order. Each end of a shard differs by at most half a row group from an equal division of the bytes.
func (s Shard) containsGroup(bytesBefore, groupBytes, totalBytes int64) bool {
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
