package greedy

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rowPass is a pass over the rows and its results.
type rowPass struct {
	purpose  string
	sums     [][]float64 // zeros at first; addBlock adds the contribution of a block of rows
	addBlock func(*rowBlock)
	finish   func()      // computes outputs from the sums; may be nil
	outputs  [][]float64 // results of the pass; nil if these are the sums themselves
}

func (p *rowPass) results() [][]float64 {
	if p.outputs != nil {
		return p.outputs
	}
	return p.sums
}

// The results of the passes determine the selection completely, so a log of these results is a complete checkpoint. A
// resumed run uses the results of finished passes from the log in place of reading rows, and selects like the first
// run, to the bit. For a pass that was interrupted, the log has the sums so far.

// runPass makes the pass p, or loads its results from the checkpoint. Sparse rows are added up in their order, however
// they are cut into blocks, so blocks may differ from the source's chunks.
func (r *reader) runPass(ctx context.Context, p rowPass) error {
	finish := func() {
		if p.finish != nil {
			p.finish()
		}
	}
	if r.inMemory {
		p.addBlock(r.sparse.sortedBlock())
		finish()
		return ctx.Err()
	}
	k := r.newSavedPass(&p)
	if done, err := k.loadResults(ctx); done || err != nil {
		return err
	}
	if err := r.readBlocks(ctx, &p, k); err != nil {
		return err
	}
	r.hasSparseSums = true
	finish()
	return k.saveResults(ctx)
}

func (r *reader) readBlocks(ctx context.Context, p *rowPass, k *savedPass) error {
	from, err := k.loadProgress(ctx)
	if err != nil {
		return err
	}
	flush := func() {
		if r.sparse.entriesPlusRows() > 0 {
			p.addBlock(r.sparse.sortedBlock())
			r.sparse.reset()
		}
	}
	at := from
	r.sparse.reset()
	err = r.PassFrom(ctx, p.purpose, from, func(_ int, c *stream.Chunk) error {
		if c.Sparse == nil {
			p.addBlock(r.denseBlock(c))
			return nil
		}
		for i := range c.Rows {
			r.addRow(c, i)
			if r.blockLimit > 0 && r.sparse.entriesPlusRows() >= r.blockLimit {
				flush()
			}
		}
		return nil
	}, func(behind rows.Mark) error {
		if at = behind; !k.isSaveDue() {
			return nil
		}
		flush()
		return k.saveProgress(ctx, at)
	})
	switch {
	case err != nil && ctx.Err() != nil && at != from && k != nil:
		flush()
		return errors.Join(err, k.saveProgress(ctx, at))
	case err != nil:
		return err
	}
	if r.blockLimit == 0 && r.sparse.entriesPlusRows() > 0 { // sparse rows that stay in memory
		r.inMemory = true
		p.addBlock(r.sparse.sortedBlock())
		return nil
	}
	flush()
	return nil
}

// savedPass is the part of the checkpoint for one pass. A nil *savedPass saves nothing.
type savedPass struct {
	checkpoint         stream.Checkpoint
	reader             *reader
	pass               *rowPass
	name               string
	computesSparseSums bool      // this pass computes reader.sum and reader.weight of sparse rows
	weight             []float64 // one number: reader.weight, the sum of the weights of the sparse rows
}

// newSavedPass returns nil if there is no checkpoint. It also returns nil if sparse rows are or will be in memory: a
// resumed run reads them again, and passes over rows in memory are quick.
func (r *reader) newSavedPass(p *rowPass) *savedPass {
	if r.checkpoint == nil || r.blockLimit == 0 {
		return nil
	}
	return &savedPass{checkpoint: r.checkpoint, reader: r, pass: p, name: strconv.Itoa(r.Passes + 1), computesSparseSums: !r.hasSparseSums, weight: []float64{r.weight}}
}

// Keys of the marks in a checkpoint: purposeMark for the purpose of a pass; nextMark and numberMark for the position up
// to which it has read the rows.
const (
	purposeMark = "what"
	nextMark    = "next"
	numberMark  = "number"
)

func (k *savedPass) withSparseSums(numbers [][]float64) [][]float64 {
	if !k.computesSparseSums {
		return numbers
	}
	return append(numbers[:len(numbers):len(numbers)], k.reader.sum, k.weight)
}

func (k *savedPass) loadResults(ctx context.Context) (done bool, err error) {
	if k == nil {
		return false, nil
	}
	if _, done, err = k.loadNumbersAndMarks(ctx, "pass"+k.name, k.pass.results()); !done || err != nil {
		return false, err
	}
	k.reader.Passes++
	k.reader.hasSparseSums = true
	return true, nil
}

func (k *savedPass) loadProgress(ctx context.Context) (from rows.Mark, err error) {
	if k == nil {
		return from, nil
	}
	marks, begun, err := k.loadNumbersAndMarks(ctx, "part"+k.name, k.pass.sums)
	if !begun || err != nil {
		return from, err
	}
	var err1, err2 error
	from.Next, err1 = strconv.ParseInt(marks[nextMark], 10, 64)
	from.Number, err2 = strconv.Atoi(marks[numberMark])
	if err1 != nil || err2 != nil {
		return from, fmt.Errorf("greedy: pass %s of the checkpoint does not record its progress", k.name)
	}
	return from, nil
}

func (k *savedPass) loadNumbersAndMarks(ctx context.Context, name string, numbers [][]float64) (marks map[string]string, ok bool, err error) {
	marks, ok, err = k.checkpoint.Load(ctx, name, k.withSparseSums(numbers)...)
	if !ok || err != nil {
		return nil, false, err
	}
	if marks[purposeMark] != k.pass.purpose {
		return nil, false, stream.Usagef("pass %s of the checkpoint was for %s, and is for %s now: remove the {checkpoint} folder", k.name, marks[purposeMark], k.pass.purpose)
	}
	k.reader.weight = k.weight[0]
	return marks, true, nil
}

func (k *savedPass) isSaveDue() bool { return k != nil && k.checkpoint.Due() }

func (k *savedPass) saveProgress(ctx context.Context, at rows.Mark) error {
	k.weight[0] = k.reader.weight
	return k.checkpoint.Save(ctx, "part"+k.name, map[string]string{
		purposeMark: k.pass.purpose, nextMark: strconv.FormatInt(at.Next, 10), numberMark: strconv.Itoa(at.Number),
	}, k.withSparseSums(k.pass.sums)...)
}

func (k *savedPass) saveResults(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.weight[0] = k.reader.weight
	if err := k.checkpoint.Append(ctx, "pass"+k.name, map[string]string{purposeMark: k.pass.purpose}, k.withSparseSums(k.pass.results())...); err != nil {
		return err
	}
	return k.checkpoint.Drop("part" + k.name)
}
