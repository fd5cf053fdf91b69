package chunkio

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
)

// directOutput is the output file of Convert if its input is one file of rows (such as CSV). The rows are converted
// straight to this file. When the rows went through a scratch file, converting 200 MB of CSV wrote twice as many bytes
// and took 1.8 times the CPU time.
type directOutput struct {
	out     string
	file    *atomicfile.File  // nil before rows are converted
	reader  atomicfile.Reader // reads the written bytes
	written *scratchRows      // the written rows
}

// useDirectOutput returns opt.direct if the output holds exactly the rows and columns of one file, else nil.
func (a *access) useDirectOutput(ctx context.Context, inputs []string, list *fileList, opt ApplyOptions) (*directOutput, error) {
	if opt.direct == nil || list.count != 1 || opt.Where != "" {
		return nil, nil
	}
	paths := list.paths()
	if keys, _, err := list.partitionValues(0, paths[0]); err != nil || len(keys) > 0 { // keys become columns
		return nil, err
	}
	layout, err := a.chooseLayout(ctx, inputs, list, opt.direct.out, opt.Form)
	if err != nil || !layout.single {
		return nil, err
	}
	return opt.direct, nil
}

func (d *directOutput) writeToOutput(ctx context.Context, from intake.Input, opt intake.Options) (*scratchRows, error) {
	if err := atomicfile.CheckWritable(ctx, d.out); err != nil { // without this check an upload would fail only at its end
		return nil, err
	}
	var err error
	if d.file, err = atomicfile.Create(ctx, d.out); err != nil {
		return nil, err
	}
	table, err := intake.Write(ctx, from, d.file, opt)
	if err != nil {
		return nil, err
	}
	if d.reader, err = d.file.Reopen(); err != nil {
		return nil, err
	}
	d.written = &scratchRows{reader: d.reader, table: table}
	return d.written, nil
}

func (d *directOutput) commitOutput(report *ApplyReport) error {
	if err := d.reader.Close(); err != nil {
		return err
	}
	t := d.written.table
	leaves := len(t.Columns)
	for _, c := range t.Columns {
		if c.Kind == intake.Map {
			leaves++ // a map has two leaves: keys and values
		}
	}
	if err := verifyWritten(d.file, t.Rows, leaves); err != nil {
		return err
	}
	report.Files, report.Rows, report.Bytes = 1, t.Rows, t.Bytes
	return d.file.Commit()
}

func (d *directOutput) discardUncommitted() {
	if d.reader != nil {
		d.reader.Close() // close it before the file is removed; after a commit this is the second Close
	}
	if d.file != nil {
		d.file.Abort()
	}
}
