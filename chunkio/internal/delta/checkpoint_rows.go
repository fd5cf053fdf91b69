package delta

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/stream"
)

// watchedInput records the error of a failed read. Such an error does not mean that the file is damaged.
type watchedInput struct {
	format.Input
	err error
}

func (w *watchedInput) ReadAt(b []byte, at int64) (int, error) {
	n, err := w.Input.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

func (r *checkpointReader) readParquetFile(ctx context.Context, f logFile) error {
	opened, err := r.folder.Open(ctx, f.name)
	if err != nil {
		return r.errUnreadableFile(f.name, err)
	}
	defer opened.Close()
	in := &watchedInput{Input: opened}
	if err = r.readParquetInput(ctx, f, in); in.err != nil && ctx.Err() == nil {
		return r.errUnreadableFile(f.name, in.err)
	}
	return err
}

// actionsPerByte is larger than the number of actions per byte in any real file, even if it is compressed, because each
// action has a path, a size and a time.
const actionsPerByte = 64

func (r *checkpointReader) readParquetInput(ctx context.Context, f logFile, in format.Input) error {
	place := r.pathForMessages(f.name)
	if f.size > 0 { // the size of a sidecar may be missing
		if err := r.checkSize(f, in.Size()); err != nil {
			return err
		}
	}
	file, err := pq.Open(in, r.budget.limit-r.budget.used)
	if err != nil {
		return format.PlaceError(place, -1, "", err)
	}
	footerBytes := file.HeldBytes()
	if err := r.budget.reserveBytes(footerBytes, r.name); err != nil {
		return err
	}
	defer r.budget.releaseBytes(footerBytes)
	at, err := findColumns(file.Schema(), r.state.wantsFiles)
	if err != nil {
		return format.PlaceError(place, -1, "", fmt.Errorf("is no checkpoint: %w", err))
	}
	for g, rows := range file.GroupRows() {
		if rows/actionsPerByte > in.Size() {
			return format.PlaceError(place, g, "", fmt.Errorf("claims %d actions in a file of %d bytes", rows, in.Size()))
		}
		if err := r.readRowGroup(ctx, file, g, at); err != nil {
			return format.PlaceError(place, g, "", err)
		}
	}
	return nil
}

func (r *checkpointReader) readRowGroup(ctx context.Context, file *pq.File, g int, at [columnCount]int) error {
	need := int64(0)
	for _, i := range at {
		if i >= 0 {
			need += cursorBytes(file, g, i)
		}
	}
	if err := r.budget.reserveBytes(need, r.name); err != nil {
		return err
	}
	defer r.budget.releaseBytes(need)
	// The library may panic on damaged values.
	return format.Guard(func() error {
		rows, err := openRows(file, g, at)
		if err != nil {
			return err
		}
		defer rows.closeCursors()
		for n := range file.GroupRows()[g] {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err = rows.nextRow(); err == nil {
				err = r.applyRow(rows)
			}
			if err != nil {
				return errAtRow(format.GroupStart(file, g)+n, err)
			}
		}
		return nil
	})
}

// cursorBytes estimates the memory of a cursor for physical column i of row group g. It adds up the bytes that are read
// at once, two pages (a batch may still use texts of the previous page), the state of the codec, and a batch. The
// length of a page is unknown, so each page counts as the whole chunk in memory. Each text of a dictionary has at least
// 4 bytes and also needs a slice header. The length of a dictionary in memory is unknown too: we assume at most 8 times
// its compressed length.
func cursorBytes(file *pq.File, g, i int) int64 {
	const readAtOnce, codec, header = 8 << 20, 1 << 20, 24
	c := file.Chunk(g, i)
	n := min(c.Size, readAtOnce) + 2*c.Uncompressed + codec + batchEntries*2*header
	return n + header/4*min(c.Uncompressed, 8*file.DictionaryBytes(g, i))
}

func errAtRow(rowNumber int64, err error) error {
	if _, ok := errors.AsType[*stream.MemoryError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*stream.DataError](err); ok {
		return err
	}
	return &stream.DataError{RowGroup: -1, Row: rowNumber, Err: err}
}

func (r *checkpointReader) applyRow(row *rowReader) error {
	if row.rowHasActionOfColumn(addPath) {
		if err := r.applyAdd(row); err != nil {
			return err
		}
	}
	if row.rowHasActionOfColumn(metaPartitions) {
		if err := r.applyMetaData(row); err != nil {
			return err
		}
	}
	if row.rowHasActionOfColumn(protocolVersion) {
		version, ok := row.scalarCell(protocolVersion)
		if !ok {
			return errors.New("a protocol has no minReaderVersion")
		}
		features, err := row.listTexts(protocolFeatures)
		if err != nil {
			return err
		}
		r.state.protocol = &protocol{version.number, features}
	}
	if version, ok := row.scalarCell(checkpointVersion); ok {
		if err := r.checkStatedVersion(version.number); err != nil {
			return err
		}
	}
	if row.rowHasActionOfColumn(sidecarPath) {
		name, ok := row.scalarCell(sidecarPath)
		if !ok {
			return errors.New("a sidecar has no path")
		}
		size, _ := row.scalarCell(sidecarSize)
		return r.addSidecar(string(name.text), size.number)
	}
	return nil
}

func (r *checkpointReader) applyAdd(row *rowReader) (err error) {
	name, ok := row.scalarCell(addPath)
	size, sized := row.scalarCell(addSize)
	if !ok || !sized {
		return errors.New("adds a file without its path or size")
	}
	rows := int64(-1)
	if n, ok := row.scalarCell(addRows); ok {
		rows = n.number
	} else if stats, ok := row.scalarCell(addStats); ok {
		rows = parseRowCount(stats.text)
	}
	var vector *deletionVector
	if kind, ok := row.scalarCell(vectorType); ok {
		place, _ := row.scalarCell(vectorPlace)
		vector = &deletionVector{StorageType: string(kind.text), PathOrInlineDv: string(place.text)}
		if offset, ok := row.scalarCell(vectorOffset); ok {
			vector.Offset = &offset.number
		}
		size, _ := row.scalarCell(vectorSize)
		rows, _ := row.scalarCell(vectorRows)
		vector.SizeInBytes, vector.Cardinality = size.number, rows.number
	}
	if r.values, err = row.mapPairs(addKeys, addValues, r.values); err != nil {
		return err
	}
	return r.state.addFile(r.name, string(name.text), vector, size.number, rows, r.values)
}

func (r *checkpointReader) applyMetaData(row *rowReader) (err error) {
	m := new(metaData)
	if m.PartitionColumns, err = row.listTexts(metaPartitions); err != nil {
		return err
	}
	configuration, err := row.mapPairs(metaKeys, metaValues, nil)
	if err != nil {
		return err
	}
	m.Configuration = make(map[string]string, len(configuration))
	for _, p := range configuration {
		if p.value != nil {
			m.Configuration[p.name] = *p.value
		}
	}
	text, _ := row.scalarCell(metaSchema)
	m.SchemaString = string(text.text)
	id, _ := row.scalarCell(metaID)
	m.ID = string(id.text)
	provider, _ := row.scalarCell(metaProvider)
	m.Format.Provider = string(provider.text)
	r.state.meta = m
	return nil
}
