package export

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// NewArrowSink returns a sink of an Arrow IPC file, without compression, so that readers can map it into memory.
func (t *Table) NewArrowSink(w io.Writer) (Sink, error) {
	f, err := ipc.NewFileWriter(&countingWriter{Writer: w}, ipc.WithSchema(t.Schema))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// NewCSVSink returns a sink of CSV (RFC 4180) with a line of names. An empty field is null; an empty text is quoted. If
// there is only one column, its null is quoted too, because a blank line is not a row. Numbers keep their values when
// read back, and times are in ISO 8601. Texts are unchanged: a text that begins with = stays so, and the user must
// import it as text into a spreadsheet.
func (t *Table) NewCSVSink(w io.Writer) (Sink, error) {
	c := &csvSink{w: w}
	for i, col := range t.columns {
		write, err := newCSVFieldWriter(col)
		if err != nil {
			return nil, err
		}
		c.writers = append(c.writers, write)
		c.appendSeparator(i)
		c.appendQuotedIfNeeded([]byte(col.name))
	}
	c.line = append(c.line, '\n')
	return c, c.writeLines(0)
}

// csvSink writes lines and uses one buffer for them.
type csvSink struct {
	w       io.Writer
	line    []byte
	value   []byte
	writers []func(b []byte, a arrow.Array, i int) (out []byte, isText bool)
}

// bytesPerWrite: the buffered lines are written when they have more than this number of bytes.
const bytesPerWrite = 64 << 10

func (c *csvSink) Write(r arrow.Record) error {
	for row := range int(r.NumRows()) {
		for i, a := range r.Columns() {
			c.appendSeparator(i)
			if a.IsNull(row) {
				if len(c.writers) == 1 {
					c.appendQuotedIfNeeded(nil)
				}
				continue
			}
			var isText bool
			if c.value, isText = c.writers[i](c.value[:0], a, row); isText {
				c.appendQuotedIfNeeded(c.value)
			} else {
				c.line = append(c.line, c.value...)
			}
		}
		c.line = append(c.line, '\n')
		if err := c.writeLines(bytesPerWrite); err != nil {
			return err
		}
	}
	return c.writeLines(0)
}

func (c *csvSink) Close() error { return c.writeLines(0) }

func (c *csvSink) appendSeparator(column int) {
	if column > 0 {
		c.line = append(c.line, ',')
	}
}

func (c *csvSink) appendQuotedIfNeeded(s []byte) {
	if len(s) > 0 && !bytes.ContainsAny(s, ",\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		c.line = append(c.line, s...)
		return
	}
	c.line = append(c.line, '"')
	c.line = append(c.line, bytes.ReplaceAll(s, []byte{'"'}, []byte{'"', '"'})...)
	c.line = append(c.line, '"')
}

func (c *csvSink) writeLines(threshold int) error {
	if len(c.line) <= threshold {
		return nil
	}
	_, err := c.w.Write(c.line)
	c.line = c.line[:0]
	return err
}

func newCSVFieldWriter(c column) (func([]byte, arrow.Array, int) ([]byte, bool), error) {
	number := func(write func([]byte, arrow.Array, int) []byte) (func([]byte, arrow.Array, int) ([]byte, bool), error) {
		return func(b []byte, a arrow.Array, i int) ([]byte, bool) { return write(b, a, i), false }, nil
	}
	switch t := c.typ.(type) {
	case *arrow.StringType:
		return func(b []byte, a arrow.Array, i int) ([]byte, bool) {
			return append(b, a.(*array.String).Value(i)...), true
		}, nil
	case *arrow.BooleanType:
		return number(func(b []byte, a arrow.Array, i int) []byte { return strconv.AppendBool(b, a.(*array.Boolean).Value(i)) })
	case *arrow.Float16Type:
		return number(func(b []byte, a arrow.Array, i int) []byte {
			return appendFloat(b, format.HalfFloat(a.(*array.Float16).Value(i).Uint16()), 32)
		})
	case *arrow.Float32Type:
		return number(func(b []byte, a arrow.Array, i int) []byte {
			return appendFloat(b, float64(a.(*array.Float32).Value(i)), 32)
		})
	case *arrow.Float64Type:
		return number(func(b []byte, a arrow.Array, i int) []byte { return appendFloat(b, a.(*array.Float64).Value(i), 64) })
	case *arrow.Date32Type:
		return number(func(b []byte, a arrow.Array, i int) []byte {
			return text.AppendDate(b, int64(a.(*array.Date32).Value(i)))
		})
	case *arrow.TimestampType:
		return number(func(b []byte, a arrow.Array, i int) []byte {
			return text.AppendTime(b, int64(a.(*array.Timestamp).Value(i)), int64(time.Second/t.Unit.Multiplier()), t.TimeZone != "")
		})
	case *arrow.Time32Type:
		return number(func(b []byte, a arrow.Array, i int) []byte {
			return text.AppendClock(b, int64(a.(*array.Time32).Value(i)), int64(time.Second/t.Unit.Multiplier()))
		})
	case *arrow.Time64Type:
		return number(func(b []byte, a arrow.Array, i int) []byte {
			return text.AppendClock(b, int64(a.(*array.Time64).Value(i)), int64(time.Second/t.Unit.Multiplier()))
		})
	case *arrow.Decimal128Type:
		return number(func(b []byte, a arrow.Array, i int) []byte {
			return text.AppendDecimal(b, a.(*array.Decimal128).Value(i).BigInt(), int(t.Scale))
		})
	case *arrow.Decimal256Type:
		return number(func(b []byte, a arrow.Array, i int) []byte {
			return text.AppendDecimal(b, a.(*array.Decimal256).Value(i).BigInt(), int(t.Scale))
		})
	case *arrow.FixedSizeBinaryType:
		if c.uuid {
			return number(func(b []byte, a arrow.Array, i int) []byte {
				return text.AppendUUID(b, a.(*array.FixedSizeBinary).Value(i))
			})
		}
	}
	if arrow.IsInteger(c.typ.ID()) {
		return number(func(b []byte, a arrow.Array, i int) []byte { return append(b, a.ValueStr(i)...) })
	}
	return nil, stream.Usagef("column %s: bytes have no form in CSV; leave the column out, or choose {format} parquet or arrow", c.name)
}

// appendFloat appends the shortest decimal that yields the same number when read back.
func appendFloat(b []byte, x float64, bits int) []byte {
	switch {
	case math.IsInf(x, 0):
		if x < 0 {
			b = append(b, '-')
		}
		return append(b, "inf"...)
	case x == 0 && math.Signbit(x):
		return append(b, "-0.0"...)
	}
	return text.AppendFloat(b, x, bits)
}
