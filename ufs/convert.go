package ufs

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ConvertRequest chooses the input to write as Parquet, and the output.
type ConvertRequest struct {
	Inputs     []string // as in Request, including standard input
	Stdin      io.Reader
	Output     string // a Parquet file, or a folder if the input is a folder; both may be in an object store
	Where      string // condition as in Request: only rows that satisfy it are written
	Union      bool   // like UnionByName of Request
	Threads    int
	Memory     int64
	TempDir    string // as in Request; so are all fields that follow
	MaxScratch int64
	Version    *int64
	AsOf       time.Time
	Anonymous  bool
	Allow      []string
	Texts      chunkio.TextOptions

	Meter    *stream.Meter
	Progress func(Progress)
	Note     func(stream.Text)
}

// Convert writes the input, of any format, as Parquet with all its columns. The output appears only when it is
// complete. If Convert is interrupted, a later call resumes it, as with [Apply].
func Convert(ctx context.Context, c ConvertRequest) (chunkio.ApplyReport, error) {
	q := Request{Threads: c.Threads, Memory: c.Memory, TempDir: c.TempDir, MaxScratch: c.MaxScratch, Meter: c.Meter, Progress: c.Progress}
	var report chunkio.ApplyReport
	if len(c.Inputs) == 0 {
		return report, stream.Usagef("convert: no INPUT given")
	}
	if err := checkDataOutput("convert", c.Output); err != nil {
		return report, err
	}
	if err := checkParquetOutput("convert", c.Output); err != nil {
		return report, err
	}
	if err := q.fillLimits(); err != nil {
		return report, err
	}
	if err := checkTempFolder(q.TempDir); err != nil {
		return report, err
	}
	end, err := q.applyLimits(ctx)
	if err != nil {
		return report, err
	}
	defer end()
	err = q.trackProgress(Progress{What: "convert", Pass: 1, Passes: 1, Rows: -1}, func(func(Progress)) (err error) {
		report, err = chunkio.Convert(ctx, c.Inputs, c.Output, chunkio.ApplyOptions{
			Where: c.Where, Union: c.Union, Threads: q.Threads, Memory: max(q.Memory-programBytes, 1), Meter: q.Meter,
			Anonymous: c.Anonymous, Allow: c.Allow, Texts: c.Texts, TableVersion: c.Version, TableAsOf: c.AsOf,
			Spool: q.scratchOptions(), Stdin: c.Stdin, Note: c.Note, Maker: Release,
		})
		return asInterrupted(err)
	})
	return report, q.errForLimit(err)
}

func checkDataOutput(verb, output string) error {
	switch output {
	case "":
		return stream.Usagef("%s: no output given; add {o} OUT", verb)
	case "-":
		return stream.Usagef("%s: {o} -: rows go to a file, which appears whole or not at all; name it OUT.parquet", verb)
	}
	return nil
}

func checkParquetOutput(verb, output string) error {
	switch strings.ToLower(place.Ext(output)) {
	case ".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".npy", ".avro", ".txt", ".arrow", ".feather", ".ipc", ".ufs", ".gz", ".zst", ".bz2":
		return stream.Usagef("%s: {o} %s: OUT is Parquet; name it %s", verb, place.DisplayName(output), place.WithExt(output, ".parquet"))
	}
	return nil
}
