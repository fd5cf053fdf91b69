package settled

import (
	"context"
	"encoding/json"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// frequencyCounter adds up the weights of rows, and of the rows in which each feature is neither 0 nor missing.
type frequencyCounter struct {
	rows     float64
	features []float64
}

// Add implements stream.Adder.
func (f *frequencyCounter) Add(c *stream.Chunk) error {
	weight := func(row int) float64 {
		if c.Weight == nil {
			return 1
		}
		return c.Weight[row]
	}
	for i := range c.Rows {
		f.rows += weight(i)
	}
	if c.Sparse != nil {
		for i := range c.Rows {
			for k := c.Sparse.RowPtr[i]; k < c.Sparse.RowPtr[i+1]; k++ {
				if x := c.Sparse.Value[k]; x != 0 && x == x {
					f.features[c.Sparse.Index[k]] += weight(i)
				}
			}
		}
		return nil
	}
	for j := range f.features {
		for i, x := range c.Col(j) {
			if x != 0 && x == x {
				f.features[j] += weight(i)
			}
		}
	}
	return nil
}

// frequencyColumnBytes is the memory for the frequency of a feature while it is counted and written as text.
const frequencyColumnBytes = 300

// CountFrequencies makes the pass over the input that sets q.Columns.Frequencies. It reads by opt, except that missing
// values drop no rows.
func CountFrequencies(ctx context.Context, q *request.Request, opt chunkio.Options) error {
	opt.Missing, opt.Target, opt.Classes = stream.MissingKeep, false, false
	ds, err := OpenDataset(ctx, q.Input.Paths, opt)
	if err != nil {
		return budget.ErrForLimit(q, err)
	}
	defer ds.Close()
	columns := ds.Columns()
	opt.Memory = max(opt.Memory-frequencyColumnBytes*int64(len(columns)), 1)
	if ds, err = ds.With(opt); err != nil {
		return budget.ErrForLimit(q, err)
	}
	count := &frequencyCounter{features: make([]float64, len(columns))}
	err = request.TrackProgress(q, request.Progress{What: "document frequencies", Pass: 1, Passes: 1, Rows: ds.Rows()}, func(func(request.Progress)) error {
		return stream.Fold(ctx, ds, stream.FoldOptions{Meter: q.Hooks.Meter}, count)
	})
	if err != nil {
		return budget.ErrForLimit(q, err)
	}
	found := request.Frequencies{Rows: count.rows, Features: make(map[string]float64)}
	for j, weight := range count.features {
		if weight > 0 {
			found.Features[columns[j].Name] = weight
		}
	}
	text, err := json.Marshal(found)
	if len(text) > maxOptionBytes {
		return stream.Usagef("{rows-scale} tfidf: the frequencies of %d features take %d bytes, and records hold %d; use {rows-scale l2}, or fewer features", len(found.Features), len(text), maxOptionBytes)
	}
	q.Columns.Frequencies = string(text)
	return err
}
