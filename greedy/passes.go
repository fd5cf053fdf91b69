package greedy

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// reading is a pass over the rows, and what it makes.
type reading struct {
	what   string
	sums   [][]float64 // zeros as it begins, which add adds a block to
	add    func(*block)
	finish func()      // makes of the sums what the pass is for; nil does nothing
	made   [][]float64 // what that is; nil is the sums themselves
}

// results are what a pass leaves for the selection.
func (p *reading) results() [][]float64 {
	if p.made != nil {
		return p.made
	}
	return p.sums
}

// The selection between two passes follows from what these have made, so that a log of their results is all
// that a checkpoint needs: a run that goes on takes the results of finished passes from there, in place of
// reading, and selects as the first run did, to the bit. Of the pass under way the sums are kept.

// pass makes p, or takes its results from the checkpoint. Sums over sparse rows have one order however those
// are cut into blocks, so blocks need not be those of the source.
func (r *reader) pass(ctx context.Context, p reading) error {
	finish := func() {
		if p.finish != nil {
			p.finish()
		}
	}
	if r.whole {
		p.add(r.sparse.block())
		finish()
		return ctx.Err()
	}
	k := r.keeping(&p)
	if done, err := k.recall(ctx); done || err != nil {
		return err
	}
	if err := r.read(ctx, &p, k); err != nil {
		return err
	}
	r.counted = true
	finish()
	return k.finished(ctx)
}

// read goes through all blocks once, from where k has left off.
func (r *reader) read(ctx context.Context, p *reading, k *kept) error {
	from, err := k.begun(ctx)
	if err != nil {
		return err
	}
	flush := func() {
		if r.sparse.size() > 0 {
			p.add(r.sparse.block())
			r.sparse.reset()
		}
	}
	at := from
	r.sparse.reset()
	err = r.PassFrom(ctx, p.what, from, func(_ int, c *stream.Chunk) error {
		if c.Sparse == nil {
			p.add(r.block(c))
			return nil
		}
		for i := range c.Rows {
			r.addRow(c, i)
			if r.blocks > 0 && r.sparse.size() >= r.blocks {
				flush()
			}
		}
		return nil
	}, func(behind rows.Mark) error {
		if at = behind; !k.due() {
			return nil
		}
		flush()
		return k.save(ctx, at)
	})
	switch {
	case err != nil && ctx.Err() != nil && at != from && k != nil:
		flush()
		return errors.Join(err, k.save(ctx, at))
	case err != nil:
		return err
	}
	if r.blocks == 0 && r.sparse.size() > 0 { // they stay
		r.whole = true
		p.add(r.sparse.block())
		return nil
	}
	flush()
	return nil
}

// kept is what the checkpoint holds of one pass. A nil one holds and keeps nothing.
type kept struct {
	to     stream.Checkpoint
	r      *reader
	p      *reading
	name   string
	counts bool      // this pass counts the sparse rows
	weight []float64 // of these
}

// keeping is nil where no checkpoint is wanted, and where the rows come to stay: these are read again, and
// passes over rows in memory are quick.
func (r *reader) keeping(p *reading) *kept {
	if r.checkpoint == nil || r.blocks == 0 {
		return nil
	}
	return &kept{to: r.checkpoint, r: r, p: p, name: strconv.Itoa(r.Passes + 1), counts: !r.counted, weight: []float64{r.weight}}
}

// The marks of what is kept.
const (
	whatMark   = "what"
	nextMark   = "next"
	numberMark = "number"
)

// with adds the sums over sparse rows that the first pass makes beside its own.
func (k *kept) with(numbers [][]float64) [][]float64 {
	if !k.counts {
		return numbers
	}
	return append(numbers[:len(numbers):len(numbers)], k.r.sum, k.weight)
}

// recall takes over the results of the pass, if an earlier run has made it.
func (k *kept) recall(ctx context.Context) (done bool, err error) {
	if k == nil {
		return false, nil
	}
	if _, done, err = k.load(ctx, "pass"+k.name, k.p.results()); !done || err != nil {
		return false, err
	}
	k.r.Passes++
	k.r.counted = true
	return true, nil
}

// begun takes over the sums of the pass, if an earlier run has begun it.
func (k *kept) begun(ctx context.Context) (from rows.Mark, err error) {
	if k == nil {
		return from, nil
	}
	marks, begun, err := k.load(ctx, "part"+k.name, k.p.sums)
	if !begun || err != nil {
		return from, err
	}
	var err1, err2 error
	from.Next, err1 = strconv.ParseInt(marks[nextMark], 10, 64)
	from.Number, err2 = strconv.Atoi(marks[numberMark])
	if err1 != nil || err2 != nil {
		return from, fmt.Errorf("greedy: pass %s of the checkpoint does not say how far it was", k.name)
	}
	return from, nil
}

func (k *kept) load(ctx context.Context, name string, numbers [][]float64) (marks map[string]string, ok bool, err error) {
	marks, ok, err = k.to.Load(ctx, name, k.with(numbers)...)
	if !ok || err != nil {
		return nil, false, err
	}
	if marks[whatMark] != k.p.what {
		return nil, false, stream.Usagef("pass %s of the checkpoint was for %s, and is for %s now: remove the {checkpoint} folder", k.name, marks[whatMark], k.p.what)
	}
	k.r.weight = k.weight[0]
	return marks, true, nil
}

// due says that it is time to save the sums of a pass under way.
func (k *kept) due() bool { return k != nil && k.to.Due() }

// save keeps the sums of all blocks before a mark.
func (k *kept) save(ctx context.Context, at rows.Mark) error {
	k.weight[0] = k.r.weight
	return k.to.Save(ctx, "part"+k.name, map[string]string{
		whatMark: k.p.what, nextMark: strconv.FormatInt(at.Next, 10), numberMark: strconv.Itoa(at.Number),
	}, k.with(k.p.sums)...)
}

// finished keeps the results, in place of the sums.
func (k *kept) finished(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.weight[0] = k.r.weight
	if err := k.to.Append(ctx, "pass"+k.name, map[string]string{whatMark: k.p.what}, k.with(k.p.results())...); err != nil {
		return err
	}
	return k.to.Drop("part" + k.name)
}
