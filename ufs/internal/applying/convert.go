package applying

import (
	"context"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// ConvertRequest chooses the input to write as Parquet, and the output.
type ConvertRequest struct {
	Input  request.Input
	Output string // a Parquet file, or a folder if the input is a folder; both may be in an object store
	Union  bool   // like UnionByName of request.Columns
	Limits request.Limits
	Hooks  request.Hooks
}

// ConvertInput implements ufs.Convert: it writes the input, of any format, as Parquet with all its columns.
func ConvertInput(ctx context.Context, c ConvertRequest) (chunkio.ApplyReport, error) {
	q := request.Request{Input: c.Input, Columns: request.Columns{UnionByName: c.Union}, Limits: c.Limits, Hooks: c.Hooks}
	var report chunkio.ApplyReport
	if c.Input.IsEmpty() {
		return report, stream.Usagef("convert: no INPUT given")
	}
	if err := requireOutputFile("convert", c.Output); err != nil {
		return report, err
	}
	if err := checkParquetFileName("convert", c.Output); err != nil {
		return report, err
	}
	if err := settled.FillInputFromPlan(ctx, &q); err != nil {
		return report, err
	}
	err := runWithinLimits(ctx, &q, func(opt chunkio.ApplyOptions) error {
		return request.TrackProgress(&q, request.Progress{What: "convert", Pass: 1, Passes: 1, Rows: -1}, func(func(request.Progress)) (err error) {
			report, err = chunkio.Convert(ctx, c.Input.Paths, c.Output, opt)
			return unfinishedAsInterrupted(err)
		})
	})
	return report, err
}

func requireOutputFile(verb, output string) error {
	switch output {
	case "":
		return stream.Usagef("%s: no output given; add {o} OUT", verb)
	case "-":
		return stream.Usagef("%s: {o} -: rows go to a file, which appears whole or not at all; name it OUT.parquet", verb)
	}
	return nil
}

func checkParquetFileName(verb, output string) error {
	f := chunkio.InputFormatByName(output)
	if f != nil && f.Name != "Parquet" || slices.Contains([]string{".json", ".txt", ".ufs", ".gz", ".zst", ".bz2"}, strings.ToLower(place.Ext(output))) {
		return stream.Usagef("%s: {o} %s: OUT is Parquet; name it %s", verb, place.DisplayName(output), place.WithExt(output, ".parquet"))
	}
	return nil
}
