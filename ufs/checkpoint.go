package ufs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// defaultCheckpointEvery is the time between saves of a checkpoint.
const defaultCheckpointEvery = 30 * time.Second

// openCheckpoint returns nil where no checkpoint is wanted.
func (q *Request) openCheckpoint() (*checkpoint, error) {
	if q.Checkpoint == "" {
		return nil, nil
	}
	if err := os.MkdirAll(q.Checkpoint, 0o777); err != nil {
		return nil, &stream.OutputError{Path: q.Checkpoint, Err: err, Remedy: stream.Textf("choose another {checkpoint} folder")}
	}
	every := q.CheckpointEvery
	if every == 0 {
		every = defaultCheckpointEvery
	}
	return &checkpoint{dir: q.Checkpoint, every: every}, nil
}

// checkpoint keeps the statistics of a pass under way in one file, a statistics
// container that is replaced atomically. Sums are saved bit by bit and go on in the
// same order, so that a resumed run equals an uninterrupted one to the last bit. A
// nil checkpoint saves nothing.
type checkpoint struct {
	dir    string
	every  time.Duration
	digest string // of everything that shapes the sums; set by load
	own    bool   // what is at path is of this very run
}

// savedPass is the state of an interrupted pass.
type savedPass struct {
	next    int64 // global row that comes next: the end of a block
	settled bool  // saved in the settled pass, with what it leaves out; else in the first try
	decided []stream.LeftOut
	path    string
}

func (k *checkpoint) path() string { return filepath.Join(k.dir, "checkpoint.ufs") }

// load returns the state that this very run has saved before, or nil. The state of
// another run is an error: it is not ours to overwrite.
func (k *checkpoint) load(ctx context.Context, p *pass, ds *chunkio.Dataset) (*savedPass, error) {
	if k == nil {
		return nil, nil
	}
	options := p.g.shape()
	if p.g.from == method.FromGraph {
		p.g.graphShape(options)
	}
	what, err := json.Marshal(struct {
		Options map[string]string
		Inputs  []stream.Input
		Columns []stream.Column
		Rows    stream.Range
		Profile []stream.LeftOut
		Spread  bool   `json:",omitempty"`
		Hash    uint64 `json:",omitempty"` // seed of the hash shards
		Alone   bool   `json:",omitempty"` // a profile without moments
	}{options, ds.Inputs(), ds.Columns(), p.rows, p.g.decidedBefore(), p.g.spread, p.g.hashSeed(), p.profiles()})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(what)
	k.digest = hex.EncodeToString(sum[:])
	if !ds.Replayable() {
		return nil, stream.Usagef("{checkpoint} needs an input that can be read again; a stream on standard input cannot")
	}
	if _, err := os.Stat(k.path()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r, err := chunkio.OpenStats(ctx, k.path(), chunkio.FetchOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h := r.Header
	if h.Kind != "checkpoint" || h.Options["digest"] != k.digest {
		return nil, stream.Usagef("%s is the checkpoint of another run (other input, columns or options); finish that run, remove the file, or name another {checkpoint} folder", k.path())
	}
	next, err := strconv.ParseInt(h.Options["next"], 10, 64)
	if err != nil {
		return nil, stream.Dataf(k.path(), "no row to go on from: %w", err)
	}
	k.own = true
	p.g.note("going on from %s at row %d", k.path(), next)
	return &savedPass{next: next, settled: h.Options["settled"] == "true", decided: h.Decided, path: k.path()}, nil
}

// fold makes the pass called what into the states of e, from where saved left off, and saves them now
// and then, and when it is interrupted. The rows of a factor are not saved: they are larger than the
// data that they come from (200 MB for 113 MB of Parquet), fit into memory, and are there again in less
// time than lies between two saves (500×50,000 columns: 1.3 s; lists of 200×10⁶ floats: 5 s).
func (k *checkpoint) fold(ctx context.Context, p *pass, ds *chunkio.Dataset, what string, opt stream.FoldOptions, e *gathered, saved *savedPass) error {
	if k == nil || e.wide != nil {
		return p.g.fold(ctx, p.source(ds), what, opt, e.adders()...)
	}
	adders := e.adders()
	var next int64
	if saved != nil {
		if err := e.restore(ctx, saved.path); err != nil {
			return err
		}
		next = saved.next
		opt.Range = behind(ds, opt.Range, next)
		for i, a := range adders {
			adders[i] = skipRows{a, next}
		}
	}
	last := time.Now()
	opt.After = func(n int64) error {
		if next = max(next, n); time.Since(last) < k.every {
			return nil
		}
		err := k.save(ctx, p, ds, e, next)
		last = time.Now()
		return err
	}
	err := p.g.fold(ctx, p.source(ds), what, opt, adders...)
	if err != nil && ctx.Err() != nil && next > 0 {
		// Adders take a chunk whole or not at all, so the sums are those up to next.
		if saveErr := k.save(ctx, p, ds, e, next); saveErr != nil {
			return errors.Join(err, saveErr)
		}
		return &Interrupted{Checkpoint: k.dir, Err: err}
	}
	return err
}

// adders are the states that take the rows of a pass.
func (e *gathered) adders() []stream.Adder {
	var adders []stream.Adder
	switch {
	case e.hashed != nil:
		adders = append(adders, e.profile, e.hashed.split)
	case e.wide != nil:
		adders = append(adders, e.wide)
	case e.moments != nil:
		adders = append(adders, e.moments)
	default:
		adders = append(adders, e.profile)
	}
	if e.graph != nil && e.wide == nil { // which takes its rows later
		adders = append(adders, e.graph)
	}
	if e.spread != nil {
		adders = append(adders, e.spread)
	}
	if e.sketch != nil {
		adders = append(adders, e.sketch)
	}
	if e.sample != nil {
		adders = append(adders, e.sample)
	}
	if e.rows != nil {
		adders = append(adders, e.rows)
	}
	if e.ranks != nil {
		adders = append(adders, e.ranks)
	}
	if e.facts != nil && !e.counted {
		adders = append(adders, e.facts)
	}
	return adders
}

// behind is the part of r from the last cut at or before next on.
func behind(ds stream.Source, r stream.Range, next int64) stream.Range {
	cuts := ds.Cuts()
	if r.All() {
		r.To = cuts[len(cuts)-1]
	}
	for _, cut := range cuts {
		if cut <= next && cut <= r.To {
			r.From = max(r.From, cut)
		}
	}
	return r
}

// skipRows passes on the chunks that begin at next or later.
type skipRows struct {
	to   stream.Adder
	next int64
}

func (s skipRows) Add(c *stream.Chunk) error {
	if c.Start < s.next {
		return nil
	}
	return s.to.Add(c)
}

func (k *checkpoint) save(ctx context.Context, p *pass, ds *chunkio.Dataset, e *gathered, next int64) error {
	h := chunkio.StatsHeader{
		Kind: "checkpoint", Version: Release, Columns: ds.Columns(), Decided: p.opt.LeaveOut, Inputs: ds.Inputs(),
		Options: map[string]string{
			"digest": k.digest, "next": strconv.FormatInt(next, 10), "settled": strconv.FormatBool(p.settled),
		},
	}
	if err := chunkio.WriteStats(ctx, k.path(), h, append(e.progress(), p.table()...)...); err != nil {
		return stream.Errorf("checkpoint: %w", err)
	}
	k.own = true
	return nil
}

// Forget removes the state that a request's checkpoint folder holds, once the run's result
// is safe. An empty dir is none.
func Forget(dir string) error {
	if dir == "" {
		return nil
	}
	path := (&checkpoint{dir: dir}).path()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &stream.OutputError{Path: path, Err: err}
	}
	return nil
}

// Interrupted is a run that was broken off after its progress was saved.
type Interrupted struct {
	Checkpoint string // the folder
	Err        error
}

func (e *Interrupted) Error() string { return e.Err.Error() }
func (e *Interrupted) Unwrap() error { return e.Err }
