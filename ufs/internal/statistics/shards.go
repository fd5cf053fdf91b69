package statistics

import (
	"errors"
	"io"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
)

// ShardStats holds the statistics of each hash shard. A hash of each row determines its shard. The sum of the
// statistics of half the shards is the statistics of a random half of the rows.
type ShardStats struct {
	Moments  []*gram.Moments
	graphs   []*anchor.Statistics // in addition to moments for graph methods; else nil
	splitter *halves.Splitter     // used while rows are added
}

// NewShardStats makes empty statistics for each shard. Together with the statistics of their sum they use at most
// opt.Limit bytes. graph is an empty anchor graph, or nil for methods that need none.
func NewShardStats(shards, d int, opt gram.Options, graph *anchor.Statistics) (*ShardStats, error) {
	opt.Limit = gram.ShareOf(opt.Limit, d, shards+1)
	h := &ShardStats{}
	for i := range shards {
		if i == 0 {
			h.Moments = append(h.Moments, gram.NewMoments(d, opt))
		} else {
			h.Moments = append(h.Moments, h.Moments[0].Another())
		}
		if graph == nil {
			continue
		}
		one, err := graph.Another()
		if err != nil {
			return nil, err
		}
		h.graphs = append(h.graphs, one)
	}
	return h, nil
}

func (h *ShardStats) OpenSplitter(columns, threads int, seed uint64) {
	to := make([]stream.Adder, len(h.Moments))
	for i := range to {
		to[i] = shardAdder{h, i}
	}
	h.splitter = halves.New(columns, threads, seed, to)
}

// shardAdder adds rows to the statistics of one shard.
type shardAdder struct {
	stats *ShardStats
	shard int
}

func (a shardAdder) Add(c *stream.Chunk) error {
	if err := a.stats.Moments[a.shard].Add(c); err != nil {
		return a.stats.errMemoryOfAllShards(err, c.Cols)
	}
	if a.stats.graphs != nil {
		return a.stats.graphs[a.shard].Add(c)
	}
	return nil
}

func (h *ShardStats) errMemoryOfAllShards(err error, columns int) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	n := len(h.Moments) + 1
	return &stream.MemoryError{
		What: m.What + " in " + wording.CountNoun(n-1, "hash shard"), Need: gram.WholeOf(m.Need, columns, n), Limit: gram.WholeOf(m.Limit, columns, n),
	}
}

func (h *ShardStats) SumShards(shards []int) (*gram.Moments, *anchor.Statistics, error) {
	moments := h.Moments[0].Another()
	for _, i := range shards {
		if err := moments.Merge(h.Moments[i]); err != nil {
			return nil, nil, h.errMemoryOfAllShards(err, len(moments.Profile.Columns))
		}
	}
	if h.graphs == nil {
		return moments, nil, nil
	}
	graph, err := h.graphs[0].Another()
	if err != nil {
		return nil, nil, err
	}
	for _, i := range shards {
		if err := graph.Merge(h.graphs[i]); err != nil {
			return nil, nil, err
		}
	}
	return moments, graph, nil
}

func (h *ShardStats) shardCount() int {
	if h == nil {
		return 0
	}
	return len(h.Moments)
}

func (h *ShardStats) allShardNumbers() []int {
	list := make([]int, len(h.Moments))
	for i := range list {
		list[i] = i
	}
	return list
}

// FinishShards makes the statistics of e from the sum of all hash shards, after all rows were added. e.profile must
// have been filled before, from the rows in the order of the input.
func (e *Bundle) FinishShards() error {
	if err := e.ShardStats.splitter.Flush(); err != nil {
		return err
	}
	e.ShardStats.splitter = nil
	moments, graph, err := e.ShardStats.SumShards(e.ShardStats.allShardNumbers())
	if err != nil {
		return err
	}
	moments.Profile.TakeCounts(e.Profile)
	e.Moments, e.Graph, e.Profile = moments, graph, &moments.Profile
	return nil
}

// Merge adds the statistics of o shard by shard. A memory error is about the moments of one shard.
func (h *ShardStats) Merge(o *ShardStats) error {
	if len(h.Moments) != len(o.Moments) {
		return stream.Usagef("one has %d hash shards and the other %d: scan all parts with the same {stability}", len(h.Moments), len(o.Moments))
	}
	for i, m := range h.Moments {
		if err := m.Merge(o.Moments[i]); err != nil {
			return err
		}
	}
	for i, g := range h.graphs {
		if err := g.Merge(o.graphs[i]); err != nil {
			return err
		}
	}
	return nil
}

// momentsBytes bounds the bytes of the moments of h after o is merged into h. If o is nil, nothing is merged.
func (h *ShardStats) momentsBytes(o *ShardStats) (n int64) {
	for i, m := range h.Moments {
		if o != nil && i < len(o.Moments) {
			n += m.MergedBytes(o.Moments[i])
		} else {
			n += m.MergedBytes(nil)
		}
	}
	return n
}

func (h *ShardStats) discountRows(gamma float64) error {
	for _, m := range h.Moments {
		if err := m.Discount(gamma); err != nil {
			return err
		}
	}
	for _, g := range h.graphs {
		if err := g.Discount(gamma); err != nil {
			return err
		}
	}
	return nil
}

// Reorder moves column order[j] of every shard to position j.
func (h *ShardStats) Reorder(order []int) {
	for _, m := range h.Moments {
		m.Reorder(order)
	}
}

func (h *ShardStats) setLimit(limit int64) {
	for _, m := range h.Moments {
		m.SetLimit(limit)
	}
}

// shardStatsMagic begins the binary form of ShardStats. After it come the number of shards, a word that is 1 if there
// are graphs and else 0, and the moments and graphs of all shards in their own binary forms.
const shardStatsMagic = "ufshash1"

func (h *ShardStats) WriteTo(w io.Writer) (int64, error) {
	n, err := words.WriteState(w, func(v *words.Visitor) { h.visitHeader(v) })
	for _, state := range h.listStates() {
		if err != nil {
			return n, err
		}
		var more int64
		more, err = state.WriteTo(w)
		n += more
	}
	return n, err
}

func (h *ShardStats) visitHeader(v *words.Visitor) (graphs bool) {
	v.Magic(shardStatsMagic, "statistics of hash shards")
	shards := v.Length("number of hash shards", len(h.Moments), halves.MostShards)
	graphs = h.graphs != nil
	if v.Flag("whether there are graphs", &graphs); shards != len(h.Moments) || !graphs && h.graphs != nil {
		v.Fail("%d hash shards with graphs: %v, want %d with graphs: %v", shards, graphs, len(h.Moments), h.graphs != nil)
	}
	return graphs
}

func (h *ShardStats) listStates() []State {
	list := convert.Each(h.Moments, func(m *gram.Moments) State { return m })
	for _, g := range h.graphs {
		list = append(list, g)
	}
	return list
}

// ReadFrom reads the output of WriteTo. h must have the same number of shards. If h does not have graphs, ReadFrom
// skips the graphs. After an error h must not be used.
func (h *ShardStats) ReadFrom(r io.Reader) (int64, error) {
	graphs := false
	n, err := words.ReadState(r, func(v *words.Visitor) { graphs = h.visitHeader(v) })
	for _, state := range h.listStates() {
		if err != nil {
			return n, err
		}
		var more int64
		more, err = state.ReadFrom(r)
		n += more
	}
	if err == nil && graphs && h.graphs == nil {
		var more int64
		more, err = io.Copy(io.Discard, r)
		n += more
	}
	if err != nil && len(h.Moments) > 0 {
		err = h.errMemoryOfAllShards(err, len(h.Moments[0].Profile.Columns))
	}
	return n, err
}
