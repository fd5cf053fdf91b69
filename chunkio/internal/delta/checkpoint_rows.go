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

// watched is a file whose reading may fail, which is no damage to it.
type watched struct {
	format.Input
	err error
}

func (w *watched) ReadAt(b []byte, at int64) (int, error) {
	n, err := w.Input.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// parquet reads a Parquet file of the checkpoint.
func (r *checkpointReader) parquet(ctx context.Context, f logFile) error {
	opened, err := r.folder.Open(ctx, f.name)
	if err != nil {
		return r.unreadable(f.name, err)
	}
	defer opened.Close()
	in := &watched{Input: opened}
	if err = r.columns(ctx, f, in); in.err != nil && ctx.Err() == nil {
		return r.unreadable(f.name, in.err)
	}
	return err
}

// actionsPerByte is more actions than any writer packs into a byte: each names a path of its own, its size and its time.
const actionsPerByte = 64

// columns reads an opened Parquet file.
func (r *checkpointReader) columns(ctx context.Context, f logFile, in format.Input) error {
	place := r.place(f.name)
	if f.size > 0 { // a sidecar may come without
		if err := r.checkSize(f, in.Size()); err != nil {
			return err
		}
	}
	file, err := pq.Open(in, r.budget.limit-r.budget.held)
	if err != nil {
		return format.Place(place, -1, "", err)
	}
	held := file.HeldBytes()
	if err := r.budget.use(held, r.name); err != nil {
		return err
	}
	defer r.budget.free(held)
	at, err := findColumns(file.Schema(), r.state.all)
	if err != nil {
		return format.Place(place, -1, "", fmt.Errorf("is no checkpoint: %w", err))
	}
	for g, rows := range file.GroupRows() {
		if rows/actionsPerByte > in.Size() {
			return format.Place(place, g, "", fmt.Errorf("claims %d actions in a file of %d bytes", rows, in.Size()))
		}
		if err := r.group(ctx, file, g, at); err != nil {
			return format.Place(place, g, "", err)
		}
	}
	return nil
}

// group reads one row group.
func (r *checkpointReader) group(ctx context.Context, file *pq.File, g int, at [columnCount]int) error {
	need := int64(0)
	for _, i := range at {
		if i >= 0 {
			need += columnBytes(file, g, i)
		}
	}
	if err := r.budget.use(need, r.name); err != nil {
		return err
	}
	defer r.budget.free(need)
	// The library may panic on damaged values.
	return format.Guard(func() error {
		rows, err := openRows(file, g, at)
		if err != nil {
			return err
		}
		defer rows.close()
		for n := range file.GroupRows()[g] {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err = rows.next(); err == nil {
				err = r.row(rows)
			}
			if err != nil {
				return atRow(format.GroupStart(file, g)+n, err)
			}
		}
		return nil
	})
}

// columnBytes estimates what a cursor holds: the bytes of the chunk that are read at once,
// the page it is at and the one before, of which the batch may still have texts (how long a
// page is, is not known before it is read: it is within the chunk), the state of the codec,
// a batch, and a slice header for each text of a dictionary, which is taken to be packed to
// no less than an eighth.
func columnBytes(file *pq.File, g, i int) int64 {
	const readAtOnce, codec, header = 8 << 20, 1 << 20, 24
	c := file.Chunk(g, i)
	n := min(c.Size, readAtOnce) + 2*c.Uncompressed + codec + batchEntries*2*header
	return n + header/4*min(c.Uncompressed, 8*file.Dictionary(g, i))
}

// atRow places an error at a row of a file, unless it is no fault of the data.
func atRow(row int64, err error) error {
	if _, ok := errors.AsType[*stream.MemoryError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*stream.DataError](err); ok {
		return err
	}
	return &stream.DataError{RowGroup: -1, Row: row, Err: err}
}

// row takes the action of the current row into the state.
func (r *checkpointReader) row(row *rowReader) error {
	if row.has(addPath) {
		if err := r.add(row); err != nil {
			return err
		}
	}
	if row.has(metaPartitions) {
		if err := r.metaData(row); err != nil {
			return err
		}
	}
	if row.has(protocolVersion) {
		version, ok := row.one(protocolVersion)
		if !ok {
			return errors.New("a protocol has no minReaderVersion")
		}
		features, err := row.list(protocolFeatures)
		if err != nil {
			return err
		}
		r.state.protocol = &protocol{version.number, features}
	}
	if version, ok := row.one(checkpointVersion); ok {
		if err := r.checkVersion(version.number); err != nil {
			return err
		}
	}
	if row.has(sidecarPath) {
		name, ok := row.one(sidecarPath)
		if !ok {
			return errors.New("a sidecar has no path")
		}
		size, _ := row.one(sidecarSize)
		return r.sidecar(string(name.text), size.number)
	}
	return nil
}

func (r *checkpointReader) add(row *rowReader) (err error) {
	name, ok := row.one(addPath)
	size, sized := row.one(addSize)
	if !ok || !sized {
		return errors.New("adds a file without its path or size")
	}
	rows := int64(-1)
	if n, ok := row.one(addRows); ok {
		rows = n.number
	} else if stats, ok := row.one(addStats); ok {
		rows = rowsIn(stats.text)
	}
	var vector *deletionVector
	if kind, ok := row.one(vectorType); ok {
		where, _ := row.one(vectorPlace)
		vector = &deletionVector{StorageType: string(kind.text), PathOrInlineDv: string(where.text)}
		if offset, ok := row.one(vectorOffset); ok {
			vector.Offset = &offset.number
		}
	}
	if r.values, err = row.pairs(addKeys, addValues, r.values); err != nil {
		return err
	}
	return r.state.add(r.name, string(name.text), vector.id(), size.number, rows, r.values)
}

func (r *checkpointReader) metaData(row *rowReader) (err error) {
	m := new(metaData)
	if m.PartitionColumns, err = row.list(metaPartitions); err != nil {
		return err
	}
	configuration, err := row.pairs(metaKeys, metaValues, nil)
	if err != nil {
		return err
	}
	m.Configuration = make(map[string]string, len(configuration))
	for _, p := range configuration {
		if p.value != nil {
			m.Configuration[p.name] = *p.value
		}
	}
	text, _ := row.one(metaSchema)
	m.SchemaString = string(text.text)
	provider, _ := row.one(metaProvider)
	m.Format.Provider = string(provider.text)
	r.state.meta = m
	return nil
}
