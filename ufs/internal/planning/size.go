package planning

import (
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// PlanSelection plans the memory of selecting from ds. If the number of features is open, and finding the number worth
// keeping needs more memory than the limit, the default number is used.
func PlanSelection(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
	if r.AutoSize && usesSampleGramOnly(r, ds) {
		r.UseDefaultSize(stream.Textf("that needs the Gram matrix, and for this many sparse columns method %s makes it only from a sample of the rows; path with {method} %s on fewer columns recommends a number", r.Bound.Name, methods.Fallback))
	}
	if !r.AutoSize {
		return planMethod(r, ds)
	}
	auto, err := planMethod(r, ds)
	if err != nil && !errors.As(err, new(*stream.MemoryError)) {
		return auto, err
	}
	restore := r.UseDefaultSize(settled.MemorySizeReason(auto.Smallest))
	b, defaultErr := planMethod(r, ds)
	if err == nil { // a limit that suffices only for the default number works too
		restore()
		auto.AutoK = auto.Smallest
		auto.Smallest, auto.InMemory = min(auto.Smallest, b.Smallest), min(auto.InMemory, b.InMemory)
		return auto, nil
	}
	if defaultErr != nil {
		restore()
		return b, defaultErr
	}
	r.Notef("%d features: %v", request.DefaultK, r.SizeReason)
	b.AutoK = auto.Smallest
	return b, nil
}

// CheapColumnCount is the number of columns up to which the rules for the number of features run even if the request
// gives this number. On one core they take 0.03 s for 320 columns (with a dense solver for the eigenvalues), 0.3 s for
// 400, 0.9 s for 784 and 9 s for 3,000 columns.
const CheapColumnCount = 320

// AlwaysRunsSizeRules reports whether the rules for the number of features run for d columns even if the request gives
// this number. The plan always includes their memory then, so that the report does not depend on the memory limit.
func AlwaysRunsSizeRules(r *settled.Run, d int) bool {
	return d <= CheapColumnCount && !r.ManySettings && !r.SkipsTrust && r.SketchRows == 0
}

// SizeBytes returns the memory of recommendSize for d columns in addition to the Gram matrix. The matrix is full if
// rank is 0, or else a factor of rank rows.
func SizeBytes(r *settled.Run, d, rank int) int64 {
	bytes := subset.SizeBytes(d, rank)
	// These scales need a centred copy.
	if r.Bound.From == method.FromGram && slices.Contains([]gram.Scale{gram.ScaleNone, gram.ScaleMinMax, gram.ScaleUnit}, r.ParsedScale) {
		if rank > 0 {
			return bytes + 8*int64(rank)*int64(d)
		}
		bytes += 8 * int64(d) * int64(d)
	}
	return bytes
}
