package remaining

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

func parsed(t *testing.T, rows *roaring64.Bitmap) Bitmap {
	t.Helper()
	portable, err := rows.ToBytes()
	formattest.Must(t, err)
	b, err := ParseBitmap(portable)
	formattest.Must(t, err)
	return b
}

func withoutRows(b *roaring64.Bitmap, rows ...uint64) *roaring64.Bitmap {
	b.AndNot(roaring64.BitmapOf(rows...))
	return b
}

// drawBitmap returns a bitmap with containers of all kinds: few rows, every second one, and runs; perhaps beyond 32 bits.
func drawBitmap(random *rand.Rand) *roaring64.Bitmap {
	b := roaring64.New()
	for range random.IntN(8) {
		start := random.Uint64N(6)<<16 + random.Uint64N(3)<<32
		switch random.IntN(4) {
		case 0:
			for range random.IntN(20) {
				b.Add(start + random.Uint64N(1<<16))
			}
		case 1:
			for i := range uint64(4090 + random.IntN(12)) { // about the limit of an array
				b.Add(start + 2*i)
			}
		case 2:
			b.AddRange(start+random.Uint64N(1000), start+random.Uint64N(1<<18))
		default:
			b.AddRange(start, start+1<<16) // a full container
		}
	}
	if random.IntN(2) == 0 {
		b.RunOptimize()
	}
	return b
}

func rowsIn(list runs) (rows []uint64) {
	for start, end := range list {
		for ; start < end; start++ {
			rows = append(rows, start)
		}
	}
	return rows
}

// TestBitmapAgainstRoaring: the rows, their number and the difference of two sets are those of the library that wrote them.
// Every beginning of the bytes is refused.
func TestBitmapAgainstRoaring(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		one, two := drawBitmap(random), drawBitmap(random)
		a, b := parsed(t, one), parsed(t, two)
		if want := one.ToArray(); !slices.Equal(rowsIn(a.listRuns()), want) || a.Rows() != int64(len(want)) {
			t.Fatalf("%d rows, which Rows counts as %d; want %d", len(rowsIn(a.listRuns())), a.Rows(), len(want))
		}
		if !one.IsEmpty() && a.end != one.Maximum()+1 {
			t.Fatalf("the last row is before %d, want before %d", a.end, one.Maximum()+1)
		}
		left := one.Clone()
		left.AndNot(two)
		if got := rowsIn(subtractRuns(a.listRuns(), b.listRuns())); !slices.Equal(got, left.ToArray()) || a.IsWithin(b) != left.IsEmpty() {
			t.Fatalf("%d rows are in one set only, want %d; IsWithin is %v", len(got), left.GetCardinality(), a.IsWithin(b))
		}
		for n := range len(a.portable) {
			if n > 200 && n < len(a.portable)-200 && n%97 != 0 {
				continue
			}
			if _, err := ParseBitmap(a.portable[:n]); err == nil {
				t.Fatalf("%d of %d bytes are a bitmap", n, len(a.portable))
			}
		}
	}
}

// FuzzBitmap: if the library reads some bytes as a valid bitmap, the rows are the same. Other bytes do not cause a panic.
func FuzzBitmap(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		portable, err := drawBitmap(random).ToBytes()
		formattest.Must(f, err)
		f.Add(portable)
	}
	f.Fuzz(func(t *testing.T, portable []byte) {
		b, err := ParseBitmap(portable)
		if err != nil || b.Rows() > 1<<20 {
			return
		}
		want := roaring64.New()
		if err := want.UnmarshalBinary(portable); err != nil {
			return // an offset is wrong, which nothing here uses
		}
		if !slices.Equal(rowsIn(b.listRuns()), want.ToArray()) {
			t.Errorf("the rows are %v, want %v", rowsIn(b.listRuns()), want)
		}
	})
}
