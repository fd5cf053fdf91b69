package formats

import (
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/stream"
)

// DetectFormat finds the format and the compression of an input that begins with head: by these bytes, by the format
// named that the ending of its name shows (or nil), or by more of its bytes. guess means that only the shape of its
// lines shows the format. DetectFormat returns nil if the format is unknown.
func DetectFormat(in format.Input, head string, named *Format) (f *Format, packing string, guess bool, err error) {
	packing = intake.SniffPacking([]byte(head))
	switch f = ByBytes(head); {
	case f != nil:
		return f, "", false, nil
	case named != nil && named.IsText():
		return named, packing, false, nil
	case ipc.IsStream(in, head): // an old one, which does not begin with the magic word
		return ByBytes(ipc.StreamMagic), "", false, nil
	}
	for _, n := range []int64{intake.RecognizeBytes, intake.RecognizeMost} {
		begin := make([]byte, min(in.Size(), n))
		if err := format.ReadAt(in, begin, 0); err != nil {
			return nil, packing, false, stream.Dataf(in.Name(), "%w", err)
		}
		packing = intake.SniffPacking(begin)
		text, whole := intake.UnpackHead(begin, packing, in.Size() <= n)
		if f = ByBytes(string(text)); f != nil && f.IsText() {
			return f, packing, false, nil
		}
		kind, more := intake.Recognize(text, whole)
		if kind != intake.None || !more || in.Size() <= n {
			return OfRows(kind), packing, kind != intake.None, nil
		}
	}
	return nil, packing, false, nil
}
