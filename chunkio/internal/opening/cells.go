package opening

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formats"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/mtx"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/stream"
)

func isRegularFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// NamesFeatures reports whether a file on disk only names the features or the cells of a matrix that CellRanger wrote.
func NamesFeatures(file string) bool { return mtx.NamesFeatures(file, isRegularFile) }

func findCellsFolder(in storage.Input, f *formats.Format) *mtx.Folder {
	if f.Begins != mtx.Magic || format.IsFar(in) || !isRegularFile(in.Name()) {
		return nil
	}
	return mtx.FindFolder(in.Name(), isRegularFile)
}

func parseCells(ctx context.Context, in storage.Input, packing string, folder *mtx.Folder, spool *textSpool, memory int64, note func(stream.Text)) (*svm.Table, error) {
	var features *mtx.Features
	err := readTextFile(ctx, folder.Features, func(text io.Reader) (err error) {
		features, err = mtx.ParseFeatures(folder.Features, text, memory/4)
		return err
	})
	if err != nil {
		return nil, err
	}
	cells := 0
	err = readTextFile(ctx, folder.Barcodes, func(text io.Reader) (err error) {
		cells, err = mtx.CountBarcodes(folder.Barcodes, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	var table *svm.Table
	for _, sorts := range []bool{false, true} {
		err = readText(in, packing, func(text io.Reader) (err error) {
			table, err = mtx.ParseCells(ctx, in.Name(), text, spool, memory/4*3, len(features.Names), cells, sorts)
			return err
		})
		if !errors.Is(err, mtx.ErrOrder) { // otherwise the text is read again and sorted
			break
		}
		if err := spool.Restart(); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	table.NameFeatures(features.Names, features.Asides, features.Digest)
	if note != nil {
		note(stream.Textf("%s: a matrix of CellRanger: its %d cells are the rows, and the %d features of %s the columns", in.Name(), cells, len(features.Names), folder.Features))
	}
	return table, nil
}

func readTextFile(ctx context.Context, path string, read func(io.Reader) error) error {
	in, err := storage.OpenFile(ctx, path)
	if err != nil {
		return err
	}
	defer in.Close()
	head, err := storage.ReadHead(in)
	if err != nil {
		return err
	}
	return readText(in, intake.SniffPacking([]byte(head)), read)
}

func readText(in storage.Input, packing string, read func(io.Reader) error) error {
	text, err := NewDecompressor(in.Name(), NewSequentialReader(in), packing)
	if err != nil {
		return err
	}
	defer text.Close()
	return read(text)
}
