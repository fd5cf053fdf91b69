package settled

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// OpenDataset opens the inputs, and refuses a dataset that has no features or features that cannot be read.
func OpenDataset(ctx context.Context, inputs []string, opt chunkio.Options) (*chunkio.Dataset, error) {
	ds, err := chunkio.Open(ctx, inputs, opt)
	if err != nil {
		return nil, err
	}
	if err := ds.Check(); err != nil {
		ds.Close()
		return nil, err
	}
	return ds, nil
}

// PrepareFeatures reads the input for everything that must be known before a feature can be read: the categories of
// {categorical}, and the frequencies of {rows-scale} tfidf. It sets these in r and the later attempts.
func PrepareFeatures(ctx context.Context, r *Run, later ...*Run) error {
	if err := findCategories(ctx, r, later...); err != nil {
		return err
	}
	if !request.NeedsFrequencies(&r.Request) || r.Stats != "" {
		return nil
	}
	opt := r.ValueOptions()
	opt.Sample = r.SampleRows // frequencies are of all rows, whichever of them the method draws
	if err := CountFrequencies(ctx, &r.Request, opt); err != nil {
		return err
	}
	for _, attempt := range append([]*Run{r}, later...) {
		attempt.Columns.Frequencies = r.Columns.Frequencies
		attempt.EarlierPasses++
	}
	return nil
}

// findCategories reads the text columns of {categorical} for their values, and sets these in r and the later attempts.
func findCategories(ctx context.Context, r *Run, later ...*Run) error {
	if r.Columns.Categorical == "" || r.Columns.Categories != "" || r.Stats != "" {
		return nil
	}
	if r.ParsedScale == gram.ScaleRank {
		return stream.Usagef("{categorical}: categories have no ranks; choose {scale standard}")
	}
	columns, err := request.SplitNames(r.Columns.Categorical)
	if err != nil {
		return stream.Usagef("{categorical} %s: %v", r.Columns.Categorical, err)
	}
	if r.Columns.Categorical == request.CategoricalAuto {
		columns = nil
	}
	opt := r.ReadOptions()
	for _, name := range columns { // opening needs these names, so that whole numbers in the columns remain categories
		opt.Categories = append(opt.Categories, chunkio.Category{Column: name, Why: "values that are not read yet"})
	}
	slices.SortFunc(opt.Categories, func(a, b chunkio.Category) int { return strings.Compare(a.Column, b.Column) })
	ds, err := chunkio.Open(ctx, r.Input.Paths, opt)
	if err != nil {
		return budget.ErrForLimit(&r.Request, err)
	}
	defer ds.Close()
	var found []chunkio.Category
	err = request.TrackProgress(&r.Request, request.Progress{What: "categories", Pass: 1, Passes: 1, Rows: ds.Rows()}, func(func(request.Progress)) error {
		found, err = ds.Categories(ctx, columns, request.MaxCategories)
		return err
	})
	if err != nil {
		return budget.ErrForLimit(&r.Request, err)
	}
	values := make(map[string][]string, len(found))
	for _, c := range found {
		values[c.Column] = c.Values
		if c.Why != "" {
			values[c.Column] = nil
		}
	}
	text, err := json.Marshal(values)
	r.Columns.Categories = string(text)
	for _, next := range later {
		next.Columns.Categories = r.Columns.Categories
	}
	return err
}

// RecordHeader stores in q whether the first row of CSV files was read as a header, so that other shards and the
// command apply read their files in the same way, even if the header was only guessed.
func RecordHeader(q *request.Request, ds *chunkio.Dataset) {
	q.Input.Texts.Header = cmp.Or(ds.Guesses().Header, q.Input.Texts.Header)
}

func CountAnchorsInFile(ctx context.Context, r *Run) error {
	f := &r.Bound.Anchors
	if f.File == "" {
		return nil
	}
	// Open reads only footers, so no memory limit is set here. If the limit is too small, the plan reports it.
	ds, err := chunkio.Open(ctx, []string{f.File}, chunkio.Options{Threads: r.Limits.Threads, Anonymous: r.Input.Anonymous, Allow: r.Input.Allow, Meter: r.Hooks.Meter})
	if err != nil {
		return stream.Errorf("{anchors-file}: %w", err)
	}
	defer ds.Close()
	switch rows := ds.Rows(); {
	case rows < 0:
		return stream.Usagef("{anchors-file} %s: a stream; save it to a Parquet file first", f.File)
	case rows <= int64(f.Neighbors):
		return stream.Usagef("{anchors-file} %s: %d anchors are too few for {neighbors} %d: weights need the distance of one more, so at least %d",
			place.DisplayName(f.File), rows, f.Neighbors, f.Neighbors+1)
	default:
		r.AnchorRows, r.AnchorInputs = int(min(rows, math.MaxInt32)), ds.Inputs()
	}
	return nil
}
