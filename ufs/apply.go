package ufs

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ApplyRequest says what to write of the input.
type ApplyRequest struct {
	Inputs    []string
	Selection *stream.Selection // whose features, in the order of their ranks, are written
	K         int               // only the first so many of these; 0 means all
	Also      []string          // further columns, of any type, behind them
	Output    string            // a Parquet file, or a folder where the input is one; also in a store
	Where     string            // as in Request: only such rows are written
	Sparse    string            // as in Request; default: as the selection records
	Threads   int
	Memory    int64
	Version   *int64 // as in Request, and so are the two below
	AsOf      time.Time
	Anonymous bool

	Meter    *stream.Meter
	Progress func(Progress)
}

// Apply writes the input reduced to the selected columns, with the types and values of the
// original. The output appears whole or not at all.
func Apply(ctx context.Context, a ApplyRequest) (chunkio.ApplyReport, error) {
	q := Request{Threads: a.Threads, Memory: a.Memory, Meter: a.Meter, Progress: a.Progress}
	var report chunkio.ApplyReport
	switch {
	case len(a.Inputs) == 0:
		return report, stream.Usagef("apply: no INPUT given")
	case a.Selection == nil:
		return report, stream.Usagef("apply: no selection given; add {selection} SEL.json")
	case a.Output == "":
		return report, stream.Usagef("apply: no output given; add {o} OUT")
	case a.K < 0:
		return report, stream.Usagef("{k} %d: want 1 or more", a.K)
	case a.K > len(a.Selection.Selected):
		return report, stream.Usagef("{k} %d: the selection has %s; select again with {k} %[1]d", a.K, plural(len(a.Selection.Selected), "feature"))
	}
	switch place.Ext(a.Output) {
	case ".csv", ".tsv", ".json", ".txt", ".arrow", ".feather", ".ipc", ".ufs":
		return report, stream.Usagef("apply: {o} %s: OUT is Parquet; name it %s", place.Name(a.Output), place.WithExt(a.Output, ".parquet"))
	}
	if err := q.limits(); err != nil {
		return report, err
	}
	end, err := q.begin()
	if err != nil {
		return report, err
	}
	defer end()
	if recorded, ok := a.Selection.Options["sparse"].(string); ok && a.Sparse == "" {
		a.Sparse = recorded
	}
	if a.Sparse == "" {
		a.Sparse = chunkio.DefaultSparse(q.Inputs)
	}
	chosen := slices.Clone(a.Selection.Selected)
	slices.SortStableFunc(chosen, func(f, g stream.Selected) int { return cmp.Compare(f.Rank, g.Rank) })
	var columns []string
	for _, f := range chosen[:cmp.Or(a.K, len(chosen))] {
		columns = append(columns, f.Name)
	}
	err = q.track(Progress{What: "apply", Pass: 1, Passes: 1, Rows: a.Selection.Rows}, func(func(Progress)) (err error) {
		report, err = chunkio.Apply(ctx, a.Inputs, a.Output, chunkio.ApplyOptions{
			Columns: columns, Also: a.Also, Where: a.Where, Sparse: a.Sparse, Threads: q.Threads,
			Memory: max(q.Memory-programBytes, 1), Meter: q.Meter, Anonymous: a.Anonymous, TableVersion: a.Version, TableAsOf: a.AsOf,
		})
		return err
	})
	return report, q.wholeLimit(err)
}

// ReadSelection reads a Selection from a JSON file or object.
func ReadSelection(ctx context.Context, path string, opt chunkio.FetchOptions) (s *stream.Selection, err error) {
	name := place.Name(path)
	err = chunkio.ReadWhole(ctx, path, opt, stream.Textf("check the path of {selection}"), func(r io.Reader) error {
		if s, err = stream.DecodeSelection(r); err != nil {
			return &stream.DataError{Path: name, RowGroup: -1, Row: -1, Err: stream.Errorf("not a selection: %w", err), Remedy: stream.Textf("make one with select and {format} json")}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(s.Selected) == 0 {
		return nil, stream.Dataf(name, "the selection has no features")
	}
	return s, nil
}
