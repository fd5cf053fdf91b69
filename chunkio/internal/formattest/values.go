package formattest

import (
	"math"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// HardValues are numbers at the limits of the numeric types, by kind: a conversion to a narrower type and back must not
// change them.
var HardValues = map[string][]float64{
	"byte":   {0, 1, 255},
	"signed": {-128, 127},
	"below":  {-129, 0},
	"int16":  {-32768, 32767, 256},
	"int32":  {math.MinInt32, math.MaxInt32},
	"beyond": {math.MaxInt32 + 1, 1 << 53, 1 << 62, 1 << 63, 1 << 32},
	"zeros":  {0, math.Copysign(0, -1)},
	"minus":  {math.Copysign(0, -1), 1},
	"single": {0.5, float64(float32(0.1)), math.SmallestNonzeroFloat32, math.MaxFloat32, format.Null},
	"double": {0.1, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Nextafter(1, 2)},
	"inf":    {1, math.Inf(1), math.Inf(-1)},
	"nan": {
		math.NaN(), math.Float64frombits(0x7FF8_0000_0000_0000), math.Float64frombits(0xFFF8_0000_0000_0000),
		math.Float64frombits(0x7FF0_0000_0000_0001), math.Float64frombits(0xFFFF_FFFF_FFFF_FFFF), math.Float64frombits(stream.InfBits),
		float64(math.Float32frombits(0x7FEE_6C6C)), format.Null,
	},
	"nulls": {format.Null, 0, 255},
}
