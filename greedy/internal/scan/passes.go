package scan

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Pass is a pass over the rows and its results.
type Pass struct {
	Purpose  string
	Sums     [][]float64 // zeros at first; AddBlock adds the contribution of a block of rows
	AddBlock func(*Block)
	Finish   func()      // computes outputs from the sums; may be nil
	Outputs  [][]float64 // results of the pass; nil if these are the sums themselves
}

func (p *Pass) results() [][]float64 {
	if p.Outputs != nil {
		return p.Outputs
	}
	return p.Sums
}

// The results of the passes determine the selection completely, so a log of these results is a complete checkpoint. A
// resumed run uses the results of finished passes from the log in place of reading rows, and selects like the first
// run, to the bit. For a pass that was interrupted, the log has the sums so far.

// RunPass makes the pass p, or loads its results from the checkpoint. Sparse rows are added up in their order, however
// they are cut into blocks, so blocks may differ from the source's chunks.
func (r *Reader) RunPass(ctx context.Context, p Pass) error {
	finish := func() {
		if p.Finish != nil {
			p.Finish()
		}
	}
	if r.InMemory {
		p.AddBlock(r.Sparse.sortedBlock())
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

func (r *Reader) readBlocks(ctx context.Context, p *Pass, k *savedPass) error {
	from, err := k.loadProgress(ctx)
	if err != nil {
		return err
	}
	flush := func() {
		if r.Sparse.entriesPlusRows() > 0 {
			p.AddBlock(r.Sparse.sortedBlock())
			r.Sparse.reset()
		}
	}
	at := from
	r.Sparse.reset()
	err = r.Source.PassFrom(ctx, p.Purpose, from, func(_ int, c *stream.Chunk) error {
		if c.Sparse == nil {
			p.AddBlock(r.denseBlock(c))
			return nil
		}
		for i := range c.Rows {
			r.addRow(c, i)
			if r.BlockLimit > 0 && r.Sparse.entriesPlusRows() >= r.BlockLimit {
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
	if r.BlockLimit == 0 && r.Sparse.entriesPlusRows() > 0 { // sparse rows that stay in memory
		r.InMemory = true
		p.AddBlock(r.Sparse.sortedBlock())
		return nil
	}
	flush()
	return nil
}

// savedPass is the part of the checkpoint for one pass. A nil *savedPass saves nothing.
type savedPass struct {
	checkpoint         stream.Checkpoint
	reader             *Reader
	pass               *Pass
	name               string
	computesSparseSums bool      // this pass computes reader.sum and reader.weight of sparse rows
	weight             []float64 // one number: reader.weight, the sum of the weights of the sparse rows
}

// newSavedPass returns nil if there is no checkpoint. It also returns nil if sparse rows are or will be in memory: a
// resumed run reads them again, and passes over rows in memory are quick.
func (r *Reader) newSavedPass(p *Pass) *savedPass {
	if r.checkpoint == nil || r.BlockLimit == 0 {
		return nil
	}
	return &savedPass{checkpoint: r.checkpoint, reader: r, pass: p, name: strconv.Itoa(r.Source.Passes + 1), computesSparseSums: !r.hasSparseSums, weight: []float64{r.Weight}}
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
	return append(numbers[:len(numbers):len(numbers)], k.reader.Sum, k.weight)
}

func (k *savedPass) loadResults(ctx context.Context) (done bool, err error) {
	if k == nil {
		return false, nil
	}
	if _, done, err = k.loadNumbersAndMarks(ctx, "pass"+k.name, k.pass.results()); !done || err != nil {
		return false, err
	}
	k.reader.Source.Passes++
	k.reader.hasSparseSums = true
	return true, nil
}

func (k *savedPass) loadProgress(ctx context.Context) (from rows.Mark, err error) {
	if k == nil {
		return from, nil
	}
	marks, begun, err := k.loadNumbersAndMarks(ctx, "part"+k.name, k.pass.Sums)
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
	if marks[purposeMark] != k.pass.Purpose {
		return nil, false, stream.Usagef("pass %s of the checkpoint was for %s, and is for %s now: remove the {checkpoint} folder", k.name, marks[purposeMark], k.pass.Purpose)
	}
	k.reader.Weight = k.weight[0]
	return marks, true, nil
}

func (k *savedPass) isSaveDue() bool { return k != nil && k.checkpoint.Due() }

func (k *savedPass) saveProgress(ctx context.Context, at rows.Mark) error {
	k.weight[0] = k.reader.Weight
	return k.checkpoint.Save(ctx, "part"+k.name, map[string]string{
		purposeMark: k.pass.Purpose, nextMark: strconv.FormatInt(at.Next, 10), numberMark: strconv.Itoa(at.Number),
	}, k.withSparseSums(k.pass.Sums)...)
}

func (k *savedPass) saveResults(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.weight[0] = k.reader.Weight
	if err := k.checkpoint.Append(ctx, "pass"+k.name, map[string]string{purposeMark: k.pass.Purpose}, k.withSparseSums(k.pass.results())...); err != nil {
		return err
	}
	return k.checkpoint.Drop("part" + k.name)
}
