package scan

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Pass describes one pass over the rows: its sums, and the results computed from them.
type Pass struct {
	Purpose  string
	Sums     [][]float64 // zeros at first; AddBlock adds the contribution of a block of rows
	AddBlock func(*Block)
	Finish   func()      // computes outputs from the sums; may be nil
	Outputs  [][]float64 // results of the pass; nil if these are the sums themselves
}

func (p *Pass) computeOutputs() {
	if p.Finish != nil {
		p.Finish()
	}
}

func (p *Pass) outputsOrSums() [][]float64 {
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
	if r.InMemory {
		p.AddBlock(r.Sparse.sortedBlock())
		p.computeOutputs()
		return ctx.Err()
	}
	r.Sparse.removeRows()
	r.blocks = 0
	return r.newSavedPass(&p).MakePass(ctx, func(next int64, after func(int64) error) error {
		err := r.Source.ReadRows(ctx, rows.Pass{Purpose: p.Purpose, Weighted: true, Next: next, After: after, Place: func(_ rows.Block, c *stream.Chunk) error {
			r.blocks++
			r.addChunk(&p, c)
			return nil
		}})
		if err != nil {
			return err
		}
		r.InMemory = r.BlockLimit == 0 && r.Sparse.entriesPlusRows() > 0 // sparse rows that stay in memory
		r.addSparseBlock(&p)
		r.hasSparseSums = true
		p.computeOutputs()
		return nil
	})
}

func (r *Reader) addChunk(p *Pass, c *stream.Chunk) {
	if c.Sparse == nil {
		p.AddBlock(r.standardizeBlock(c))
		return
	}
	for i := range c.Rows {
		r.addSparseRow(c, i)
		if r.BlockLimit > 0 && r.Sparse.entriesPlusRows() >= r.BlockLimit {
			r.addSparseBlock(p)
		}
	}
}

func (r *Reader) addSparseBlock(p *Pass) {
	if r.Sparse.entriesPlusRows() == 0 {
		return
	}
	p.AddBlock(r.Sparse.sortedBlock())
	if !r.InMemory {
		r.Sparse.removeRows()
	}
}

// Keys of the marks in a checkpoint: purposeMark for the purpose of a pass; nextMark for the position up to which it has
// read the rows, and numberMark for the number of blocks before this position.
const (
	purposeMark = "what"
	nextMark    = "next"
	numberMark  = "number"
)

type savedPass struct {
	reader             *Reader
	pass               *Pass
	name               string
	computesSparseSums bool      // this pass computes reader.Sum and reader.Weight of sparse rows
	weight             []float64 // one number: reader.Weight, the sum of the weights of the sparse rows
}

// newSavedPass returns the functions that save and load the progress of pass p. They are nil if there is no checkpoint,
// or if sparse rows are or will be in memory: a resumed run reads them again, and passes over rows in memory are quick.
func (r *Reader) newSavedPass(p *Pass) rows.SavedPass {
	if r.checkpoint == nil || r.BlockLimit == 0 {
		return rows.SavedPass{}
	}
	k := &savedPass{reader: r, pass: p, name: strconv.Itoa(r.Source.Passes + 1), computesSparseSums: !r.hasSparseSums, weight: []float64{r.Weight}}
	return rows.SavedPass{Load: k.loadState, Save: k.saveState, Due: r.checkpoint.Due, SaveShort: true}
}

func (k *savedPass) loadState(ctx context.Context) (next int64, done bool, err error) {
	r := k.reader
	if _, done, err = k.loadNumbers(ctx, "pass"+k.name, k.pass.outputsOrSums()); err != nil {
		return 0, false, err
	}
	if done {
		r.Source.Passes++
		r.hasSparseSums = true
		return 0, true, nil
	}
	marks, begun, err := k.loadNumbers(ctx, "part"+k.name, k.pass.Sums)
	if !begun || err != nil {
		return 0, false, err
	}
	next, err1 := strconv.ParseInt(marks[nextMark], 10, 64)
	blocks, err2 := strconv.Atoi(marks[numberMark])
	if err1 != nil || err2 != nil {
		return 0, false, fmt.Errorf("greedy: pass %s of the checkpoint does not record its progress", k.name)
	}
	r.blocks = blocks
	return next, false, nil
}

func (k *savedPass) loadNumbers(ctx context.Context, name string, numbers [][]float64) (marks map[string]string, ok bool, err error) {
	marks, ok, err = k.reader.checkpoint.Load(ctx, name, k.withSparseSums(numbers)...)
	if !ok || err != nil {
		return nil, false, err
	}
	if marks[purposeMark] != k.pass.Purpose {
		return nil, false, stream.Usagef("pass %s of the checkpoint was for %s, and is for %s now: remove the {checkpoint} folder", k.name, marks[purposeMark], k.pass.Purpose)
	}
	k.reader.Weight = k.weight[0]
	return marks, true, nil
}

func (k *savedPass) saveState(ctx context.Context, next int64, done bool) error {
	r, marks := k.reader, map[string]string{purposeMark: k.pass.Purpose}
	r.addSparseBlock(k.pass)
	k.weight[0] = r.Weight
	if !done {
		marks[nextMark], marks[numberMark] = strconv.FormatInt(next, 10), strconv.Itoa(r.blocks)
		return r.checkpoint.Save(ctx, "part"+k.name, marks, k.withSparseSums(k.pass.Sums)...)
	}
	if err := r.checkpoint.Append(ctx, "pass"+k.name, marks, k.withSparseSums(k.pass.outputsOrSums())...); err != nil {
		return err
	}
	return r.checkpoint.Drop("part" + k.name)
}

func (k *savedPass) withSparseSums(numbers [][]float64) [][]float64 {
	if !k.computesSparseSums {
		return numbers
	}
	return append(numbers[:len(numbers):len(numbers)], k.reader.Sum, k.weight)
}
