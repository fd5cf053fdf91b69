package ufs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Every pass of gathering keeps the states that it fills in a file of its own. Sums are saved bit by bit and
// go on in the same order, so that a resumed run equals an uninterrupted one to the last bit; a pass whose
// states are whole is not made again.

// The passes by the names of their states.
const (
	uselessPass    = "useless" // finds what is to be left out
	ranksPass      = "ranks"
	anchorsPass    = "anchors" // draws the rows that anchors are made of
	statisticsPass = "statistics"
)

// The marks of a state.
const (
	readingMark = "reading" // what is left out, and what a missing value means: these change as a run learns
	nextMark    = "next"    // global row that comes next: the end of a block
	doneMark    = "done"
	passesMark  = "passes" // made so far, this one included
)

// openStates opens what an earlier attempt at the very same statistics has left.
func (p *pass) openStates(ctx context.Context, ds *chunkio.Dataset) error {
	folder := p.g.checkpoint.at()
	if folder == nil {
		return nil
	}
	if !ds.Replayable() {
		return stream.Usagef("{checkpoint} needs an input that can be read again; a stream on standard input cannot")
	}
	id, err := p.identity(ds)
	if err != nil {
		return err
	}
	if p.g.plain != nil { // which may have come in this run's place
		p.g.states, err = folder.Own(ctx, "gathering", id)
	} else {
		p.g.states, err = folder.Run(ctx, "gathering", id)
	}
	return err
}

// identity is what shapes the statistics.
func (p *pass) identity(ds *chunkio.Dataset) (resume.Identity, error) {
	id := resume.Identity{What: p.what(), Inputs: slices.Concat(ds.Inputs(), p.g.anchorFile), Columns: ds.Columns(), Options: p.g.shape(), Facts: map[string]string{}}
	switch {
	case p.g.from == method.FromGram && p.g.sample:
		id.Options[optionGraphRows] = strconv.Itoa(surveyRows(p.g.run, len(ds.Columns())))
		id.Options["seed"] = strconv.FormatUint(p.g.Seed, 10)
	case p.g.from == method.FromGraph || p.g.sample:
		p.g.graphShape(id.Options)
	}
	if p.g.keepRows > 0 {
		p.g.sampleShape(id.Options)
	}
	if !p.rows.All() {
		id.Facts["range of rows"] = p.rows.String()
	}
	if seed := p.g.hashSeed(); seed != 0 {
		id.Facts["seed of the hash shards"] = strconv.FormatUint(seed, 10)
	}
	if before := p.g.decidedBefore(); before != nil {
		text, err := json.Marshal(before)
		if err != nil {
			return id, err
		}
		sum := sha256.Sum256(text)
		id.Facts["profile of all rows"] = hex.EncodeToString(sum[:8])
	}
	return id, nil
}

// what names the statistics.
func (p *pass) what() string {
	of := ""
	if p.g.spread {
		of = " with histograms"
	}
	switch {
	case p.g.from == method.FromGraph:
		return "statistics of an anchor graph" + of
	case p.plan.Sketch > 0:
		return "a sketch of the rows"
	case p.g.table:
		return "a profile of the columns with ranks"
	case p.profiles():
		return "a profile of the columns"
	case p.plan.Factor > 0:
		return "the rows themselves"
	}
	return "Gram statistics" + of
}

// reading is a pass to be made.
type reading struct {
	name  string // of its states
	what  string // for people
	opt   chunkio.Options
	fold  stream.FoldOptions
	body  []chunkio.Section // the states that it fills, each an io.ReaderFrom too
	keeps bool              // more passes follow, so that its states are worth saving however short it was
}

// read makes the pass s into the states that adders fill, from where an earlier run has left off, and saves
// them now and then, at the end, and when it is interrupted.
func (p *pass) read(ctx context.Context, ds *chunkio.Dataset, s reading, adders ...stream.Adder) error {
	if p.g.states == nil {
		return p.g.fold(ctx, p.source(ds), s.what, s.fold, adders...)
	}
	next, done, err := p.restore(ctx, s)
	if done || err != nil {
		return err
	}
	s.fold.Next = next
	save := func(done bool) error {
		return p.g.states.Save(ctx, s.name, map[string]string{
			readingMark: s.digest(), nextMark: strconv.FormatInt(next, 10), doneMark: strconv.FormatBool(done), passesMark: strconv.Itoa(p.g.passes),
		}, s.body...)
	}
	s.fold.After = func(n int64) error {
		if next = max(next, n); !p.g.states.Due() {
			return nil
		}
		return save(false)
	}
	switch err := p.g.fold(ctx, p.source(ds), s.what, s.fold, adders...); {
	case err == nil && (s.keeps || p.g.states.Due()):
		return save(true)
	case err != nil && ctx.Err() != nil && next > 0:
		// Adders take a chunk whole or not at all, so the sums are those up to next.
		return errors.Join(err, save(false))
	default:
		return err
	}
}

// restore reads the states of a pass that an earlier run has saved: whole ones, or with the row that comes next.
func (p *pass) restore(ctx context.Context, s reading) (next int64, done bool, err error) {
	saved, err := p.g.states.Load(ctx, s.name)
	if saved == nil || err != nil {
		return 0, false, err
	}
	defer saved.Close()
	if saved.Marks[readingMark] != s.digest() {
		return 0, false, nil // of rows that are read otherwise by now
	}
	next, err1 := strconv.ParseInt(saved.Marks[nextMark], 10, 64)
	done, err2 := strconv.ParseBool(saved.Marks[doneMark])
	passes, err3 := strconv.Atoi(saved.Marks[passesMark])
	if err1 != nil || err2 != nil || err3 != nil {
		return 0, false, resume.Damaged(saved.Path, errors.New("it does not say how far the pass was"))
	}
	for _, section := range s.body {
		if err := saved.Read(section.Name, section.Body.(io.ReaderFrom)); err != nil {
			return 0, false, err
		}
	}
	folder := p.g.checkpoint.folder.Path()
	if done {
		p.g.passes = passes
		p.g.say("going on from %s: pass %d, %s, is done", folder, passes, s.what)
	} else {
		p.g.passes = passes - 1
		p.g.say("going on from %s at row %s of pass %d, %s", folder, comma(next), passes, s.what)
	}
	return next, done, nil
}

// digest tells how the rows are read.
func (s *reading) digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q", s.opt.Missing, s.opt.LeaveOut))
	return hex.EncodeToString(sum[:8])
}
